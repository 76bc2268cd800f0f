"""ROS 2's wire without ROS: topics by DDS (Cyclone), under the names that ROS 2 gives them."""

from __future__ import annotations

from typing import Any

from skyrig.errors import InputError

DEPTH = 1000
"""Samples that are kept for readers that are behind."""
PATIENCE = 10
"""How long a reader that is behind is waited for (s)."""
LOOPBACK = """
<General><Interfaces><NetworkInterface name="lo" multicast="false"/></Interfaces>
<AllowMulticast>false</AllowMulticast></General>
<Discovery><Peers><Peer address="127.0.0.1"/></Peers><ParticipantIndex>auto</ParticipantIndex>
<MaxAutoParticipantIndex>60</MaxAutoParticipantIndex></Discovery>
"""
"""Cyclone on this machine alone: no other interface, no multicast."""


class Wire:
    """A participant with writers and readers, each made when it is first used.

    Args:
        domain: DDS domain, ROS_DOMAIN_ID.
        network: Whether to leave the choice of interfaces to Cyclone's own settings.
    """

    def __init__(self, domain: int, network: bool) -> None:
        try:
            from cyclonedds.core import Policy, Qos
            from cyclonedds.domain import Domain, DomainParticipant
        except ImportError:
            raise InputError(
                "ROS 2 needs cyclonedds, which is not installed: pip install 'skyrig[ros2]'."
            ) from None
        self._qos = Qos(
            Policy.Reliability.Reliable(PATIENCE * 10**9),
            Policy.Durability.Volatile,
            Policy.History.KeepLast(DEPTH),
            Policy.DataRepresentation(use_cdrv0_representation=True),
        )
        own = f"<CycloneDDS><Domain id='any'>{LOOPBACK}</Domain></CycloneDDS>"
        self._domain = None if network else Domain(domain, own)
        self._participant: Any = DomainParticipant(domain)
        self._writers: dict[str, Any] = {}

    def write(self, topic: str, message: Any) -> None:
        """Tell a message, on a topic such as '/clock'."""
        self.offer(topic, type(message))
        self._writers[topic].write(message)

    def offer(self, topic: str, kind: Any) -> None:
        """Let others know of a topic on which nothing is told yet."""
        if topic not in self._writers:
            from cyclonedds.pub import DataWriter

            self._writers[topic] = DataWriter(self._participant, self._topic(topic, kind), qos=self._qos)

    def reader(self, topic: str, kind: Any) -> Any:
        """Of a topic of that type."""
        from cyclonedds.sub import DataReader

        return DataReader(self._participant, self._topic(topic, kind), qos=self._qos)

    def heard(self, topic: str) -> bool:
        """Whether somebody listens to what is told on a topic."""
        return topic in self._writers and bool(self._writers[topic].get_matched_subscriptions())

    def close(self) -> None:
        """Leave."""
        self._writers = {}
        self._participant = self._domain = None

    def _topic(self, topic: str, kind: Any) -> Any:
        from cyclonedds.topic import Topic

        return Topic(self._participant, f"rt{topic}", kind, qos=self._qos)
