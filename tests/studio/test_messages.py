"""What bare clients send to a flight: whatever it is, the flight goes on, and nothing is opened or told that
should not be.
"""

import html
import math
import random
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
import pytest
import viser
from bare_client import CAMERA, Bare, bare
from made_flight import made
from waiting import until

from skyrig.errors import InputError
from skyrig.sim import Poke
from skyrig.studio.app import Studio
from skyrig.studio.inbox import MOST_TEXT, Inbox
from skyrig.studio.readouts import message
from skyrig.studio.session import MOST_ACTS
from skyrig.studio.telling import LONGEST, REPEATED, brief

HOVER = "three-dragonflies-poke"
WILD = (
    *(math.nan, math.inf, -math.inf, 1e308, -1e308, 1e12, 2**63, -(2**63), None, b"bytes", {}, {"a": 1}),
    *([], [1.0], [math.nan] * 3, [math.inf] * 3, [1e300, 0.0, 0.0], [[1.0, 2.0, 3.0]], ["x"] * 3, [None] * 3),
    *("no such option", "inf", "nan", "../../etc/passwd", "x" * (MOST_TEXT + 1), "\0", "é" * MOST_TEXT),
)
PROPERTIES = (
    "value",
    "update_cb",
    "sync_cb",
    "props",
    "is_button",
    "removed",
    "uuid",
    "__class__",
    "min",
    "",
)
OTHERS = (
    "ShareUrlRequest",
    "ShareUrlDisconnect",
    "FileTransferStartUpload",
    "FileTransferPart",
    "GuiFormDirtyMessage",
    "GuiFormSubmitMessage",
    "GuiCloseModalMessage",
    "SceneNodeUpdateMessage",
    "RemoveSceneNodeMessage",
    "RunJavascriptMessage",
    "LocalStorageGetItemResponseMessage",
    "CommandTriggerMessage",
    "Message",
    "object",
    "",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("flights")


@pytest.fixture(scope="module")
def studio(folder: Path) -> Iterator[Studio]:
    built = Studio(port=0, folders=[folder])
    built.begin()
    built.open(HOVER)
    until(lambda: built.session.status == "ready" and built.shown is not None)
    yield built
    built.close()


@pytest.fixture
def client(studio: Studio) -> Iterator[Bare]:
    before = studio.session.number
    studio.session.reset()
    until(lambda: studio.session.number > before)  # it is done by another thread, a little later
    with bare(studio.address) as one:
        until(lambda: studio.server.get_clients() and "Other changes" in one.fields and "Open" in one.fields)
        until(lambda: studio.session.status == "ready" and studio.session._wanted is None)
        yield one


def told(studio: Studio) -> str:
    """The sentence on the page."""
    return studio.panel.message.content


def wild_message(chance: random.Random, fields: list[str]) -> Any:
    """Something that no page sends."""
    kind = chance.randrange(7)
    if kind == 0:
        return chance.randbytes(chance.randrange(200))
    if kind == 1:
        whole = msgspec.msgpack.encode({**CAMERA, "fov": 0.5})
        return whole[: chance.randrange(len(whole))] + chance.randbytes(chance.randrange(4))
    if kind == 2:
        name = chance.choice(sorted(CAMERA))
        return {**CAMERA, name: chance.choice(WILD)}
    if kind == 3:
        wild = {chance.choice(("uuid", "name", "owner", "payload", "updates")): chance.choice(WILD)}
        return {"type": chance.choice(OTHERS), **wild}
    if kind == 4:
        place = [chance.choice((math.nan, math.inf, 1e30, 0.0)) for _ in range(7)]
        return {
            "type": "TransformControlsUpdateMessage",
            "name": chance.choice(("/handle", "/rig", "")),
            "wxyz": place[:4],
            "position": place[4:],
        }
    if kind == 5:
        return chance.choice(("text", "", "{}", "\0" * 100))
    value = chance.choice(WILD)
    updates = {chance.choice(PROPERTIES): value for _ in range(chance.randrange(1, 3))}
    if isinstance(value, str) and len(value) <= MOST_TEXT:
        updates["other"] = value  # on its own it might be a text like any other
    return {"type": "GuiUpdateMessage", "uuid": chance.choice(fields), "updates": updates}


def test_ten_thousand_wild_messages_and_the_flight_goes_on(
    studio: Studio, client: Bare, capfd: pytest.CaptureFixture[str]
) -> None:
    chance, fields = random.Random(12), [*client.fields.values(), "nobody", ""]
    before = {label: studio.inbox.fields[uuid].value for label, uuid in client.fields.items()}
    numbers = [label for label, value in before.items() if type(value) in (int, float)]
    studio.session.play()
    number = studio.session.number
    for _ in range(10_000):
        client.send(wild_message(chance, fields))
    client.put("Other changes", "the last")
    until(lambda: studio.panel.scenario.others.value == "the last")
    view = studio.session.view()
    assert view is not None and view.playing and view.status == "ready" and studio.session.number == number
    until(lambda: studio.session.view().span[1] > view.span[1] + 0.5)
    for label, uuid in client.fields.items():
        now = studio.inbox.fields[uuid].value
        if label in numbers:  # a few may be as large as one likes
            assert math.isfinite(now)
            client.put(label, before[label])
        elif label != "Other changes":
            assert now == before[label], label
    client.put("Other changes", before["Other changes"])
    out, err = capfd.readouterr()
    assert out == err == ""


def test_what_cannot_be_simulated_is_not_done_and_the_flight_goes_on(studio: Studio, client: Bare) -> None:
    for _ in range(MOST_ACTS):  # it is paused, so they wait
        studio.session.do(Poke(0.0, np.full(3, 1e9), np.zeros(3)))
    client.put("Poke", True)
    until(lambda: f"{MOST_ACTS} pokes and cuts wait" in told(studio))
    studio.session.play()
    until(lambda: "That was too much, so it was not done" in told(studio) and not studio.session._acts)
    client.put("Cut", True)
    until(lambda: told(studio) == message("") and any(it.kind == "cut" for it in studio.session.events))
    view = studio.session.view()
    until(lambda: studio.session.view().span[1] > view.span[1] + 0.5)
    assert studio.session.status == "ready" and studio.session.playing
    assert not any(it.kind == "poke" and it.impulse > 1.0 for it in studio.session.events)


def test_texts_speeds_and_choices_have_limits(studio: Studio, client: Bare) -> None:
    for label, value, words in (
        ("Speed", "infx", "Speed must be one of those offered"),
        ("Cable", "7", "Cable must be one of those offered"),
        ("Scenario", "/etc/passwd", "Scenario must be one of those offered"),
        ("Mass (kg)", math.inf, "Mass (kg) must be a finite number"),
        ("Force (N)", [0.0, math.nan, 0.0], "Force (N) must be a finite number"),
        ("Force (N)", [0.0, 101.0, 0.0], "Force (N) must be from -100 to 100"),
        ("How many", 1e9, "How many must be from 1 to 12"),
        ("Other changes", "x" * (MOST_TEXT + 1), f"may hold {MOST_TEXT} bytes at most, not {MOST_TEXT + 1}"),
    ):
        client.put(label, value)
        until(lambda words=words: words in told(studio))
    for speed in (math.inf, math.nan, 0.0, -1.0):
        with pytest.raises(InputError, match="The speed must be"):
            studio.session.set_speed(speed)
    with pytest.raises(InputError, match="The moment must be finite"):
        studio.session.scrub(math.inf)


def test_only_what_lies_in_the_folders_is_opened(
    studio: Studio, client: Bare, folder: Path, tmp_path: Path
) -> None:
    secret = "root:x:0:0:a line of somebody else's file"
    (tmp_path / "secret.csv").write_text(secret)
    made().save(tmp_path / "elsewhere")
    made().save(folder / "odd")
    (folder / "link").symlink_to(tmp_path / "elsewhere")
    number = studio.session.number
    refusal = "Only files in the folders that the studio was started with"
    for path in (tmp_path / "elsewhere", folder / "link", folder / ".." / tmp_path.name, "/etc/passwd"):
        for button in ("Open", "Overlay"):
            studio.panel.say("")
            client.put("Or a path", str(path))
            client.put(button, True)
            until(lambda: refusal in told(studio))
    client.put("Or a path", str(folder / "odd"))
    client.put("Overlay", True)
    until(lambda: len(studio.overlays) == 1)  # it is let in, and drawn though it carries no real scenario
    studio.overlay(None)
    for text in (
        f"reference={{type: table, file: {tmp_path / 'secret.csv'}}}",
        f"reference={{type: table, file: secret.csv, directory: {tmp_path}}}",
    ):
        studio.panel.say("")
        client.put("Other changes", text)
        client.put("Apply", True)
        until(lambda: refusal in told(studio) or "directory" in told(studio))
        assert "root" not in client.said
    client.put("Other changes", "")
    assert studio.session.number == number


def test_no_sentence_repeats_what_was_sent_at_length(studio: Studio, client: Bare) -> None:
    chance = random.Random(3)
    long = "".join(chance.choice("abcdefghijklmnopqrstuvwxyz/.'\"{}\n ") for _ in range(9000))
    for label, text in (
        ("Or a path", long),
        ("Or a path", "x/" * 4000),
        ("Lengths (m)", long),
        ("Lengths (m)", "1,x" * 3000),
        ("YAML", long),
        ("YAML", "{type: " + "hover" * 1000 + "}"),
        ("Gains", "{" + "position" * 1000 + ": 1}"),
        ("Mixed team", long),
        ("Other changes", long),
        ("Other changes", "rig." + "x" * 9000 + "=1"),
        ("Other changes", "rig.payload.mass=" + "1" * 5000),
        ("Other changes", "name=[" + "ab" * 4000 + "]"),
    ):
        was = studio.inbox.fields[client.fields[label]].value
        studio.panel.say("")
        client.put(label, text)
        if label == "Mixed team":
            client.put("Vehicles", "mixed")
        client.put("Open" if label == "Or a path" else "Apply", True)
        until(lambda: told(studio) != message(""))
        sentence = html.unescape(re.sub("<[^>]*>", "", told(studio)))
        repeated = [sentence[k : k + REPEATED + 1] for k in range(len(sentence) - REPEATED)]
        assert len(sentence) <= LONGEST and not any(piece in text for piece in repeated), sentence
        client.put(label, was)
        client.put("Vehicles", "dragonfly")
    assert studio.session.status == "ready"


def test_a_sentence_is_cut_where_it_repeats() -> None:
    sent = "".join(chr(97 + k % 26) for k in range(500))
    said = f"before {sent} between {sent[:100]!r} after"
    cut = brief(said, [sent])
    assert cut.startswith("before abc") and cut.endswith("' after") and cut.count("...") == 2
    assert len(cut) < 2 * REPEATED + 40
    assert brief("a short one", [sent]) == "a short one" and len(brief("x" * 1000)) == LONGEST


def kept(field: Any, value: Any) -> Any:
    inbox = Inbox()
    inbox.fields["one"] = field
    raw = inbox.look(
        msgspec.msgpack.encode({"type": "GuiUpdateMessage", "uuid": "one", "updates": {"value": value}})
    )
    return None if raw is None else msgspec.msgpack.decode(raw)["updates"]["value"]


def test_values_are_of_the_kind_of_their_field() -> None:
    number = SimpleNamespace(value=1.0, min=0.0, max=None, label="Number")
    assert kept(number, 3) == 3 and kept(number, 1e9) == 1e9
    assert [kept(number, value) for value in (-1, True, "3", [1.0], math.nan, None)] == [None] * 6
    tick = SimpleNamespace(value=False, label="Tick")
    assert kept(tick, True) is True and [kept(tick, value) for value in (1, "yes", [True])] == [None] * 3
    text = SimpleNamespace(value="", label="Text")
    assert kept(text, "é" * 5000) == "é" * 5000 and kept(text, "é" * 5001) is None and kept(text, 1) is None
    choice = SimpleNamespace(value="a", options=("a", "b"), label="Choice")
    assert kept(choice, "b") == "b" and [kept(choice, value) for value in ("c", "", 0, ["a"])] == [None] * 4
    three = SimpleNamespace(value=(0.0, 0.0, 0.0), min=None, max=(1.0, 1.0, 1.0), label="Three")
    assert kept(three, [1, 0.5, -9.0]) == [1.0, 0.5, -9.0]
    assert [kept(three, value) for value in ([1.0], [2.0, 0.0, 0.0], 1.0, "abc")] == [None] * 4


def test_pictures_are_looked_at_before_they_are_unpacked() -> None:
    def payload(content: bytes) -> bytes:
        message = {"type": "GetRenderResponseMessage", "payload": content, "render_uuid": "x"}
        raw = Inbox().look(msgspec.msgpack.encode(message))
        assert raw is not None
        return msgspec.msgpack.decode(raw)["payload"]

    def png(wide: int, high: int) -> bytes:
        return b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + wide.to_bytes(4, "big") + high.to_bytes(4, "big") + b"rest"

    assert payload(png(1280, 720)) == png(1280, 720)
    for content in (png(10**5, 10**5), png(0, 9), png(9, 2**31), b"GIF89a", b"", b"\x89PNG"):
        assert payload(content) == b""


def test_a_slider_that_lags_behind_its_range_is_moved_into_it(studio: Studio) -> None:
    slider = studio.panel.hands.share
    assert isinstance(slider, viser.GuiSliderHandle)
    assert (kept(slider, 1.05), kept(slider, -0.1), kept(slider, 1.2)) == (1.0, 0.0, None)
