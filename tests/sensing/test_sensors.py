"""What sensors read is what a physicist would say they must."""

import numpy as np
import pytest

import skyrig
from skyrig.errors import InputError
from skyrig.sensing.barometer import pressure, pressure_altitude
from skyrig.sensing.battery import BatterySpec
from skyrig.sensing.geodesy import geodetic, local
from skyrig.sensing.imu import Imu, ImuSpec
from skyrig.sensing.sensor import Carrier, Sensors, Truth
from skyrig.tracks import Track
from skyrig.turns import multiply, of_vector, turn, vector_of

ALL = (
    "imu",
    "gnss",
    "barometer",
    "magnetometer",
    "motion_capture",
    "cable_directions",
    "tension_cells",
    "rotor_speeds",
    "battery",
)
IDEAL = {
    "imu": dict.fromkeys(
        ("accel_noise", "gyro_noise", "accel_bias", "gyro_bias", "accel_walk", "gyro_walk"), 0.0
    ),
    "gnss": {"rate": 100.0, "horizontal": 0.0, "vertical": 0.0, "velocity": 0.0},
    "barometer": {"noise": 0.0, "walk": 0.0},
    "magnetometer": {"noise": 0.0},
    "motion_capture": {"position": 0.0, "attitude": 0.0, "delay": 0.0},
    "cable_directions": {"noise": 0.0},
    "tension_cells": {"noise": 0.0, "offset": 0.0, "scale": 0.0},
    "rotor_speeds": {"noise": 0.0},
}


def instrumented(said: dict, duration: float = 1.0) -> skyrig.Scenario:
    """A vehicle that flies off along a circle with its load."""
    changes = {
        "duration": duration,
        "reference.ramp": 2.0,
        **{f"sensors.{name}": it for name, it in said.items()},
    }
    return skyrig.load("one-dragonfly-circle").with_overrides(changes)


@pytest.fixture(scope="module")
def ideal() -> skyrig.Flight:
    return skyrig.fly(instrumented(IDEAL))


@pytest.fixture(scope="module")
def noisy() -> skyrig.Flight:
    return skyrig.fly(instrumented(dict.fromkeys(ALL, {})))


def at_ticks(flight: skyrig.Flight) -> np.ndarray:
    return np.searchsorted(flight.times, flight.inputs.times - 1e-9)


def test_an_ideal_imu_feels_rotors_and_the_cable_and_nothing_else(ideal: skyrig.Flight) -> None:
    rows, n = at_ticks(ideal), 1
    force = ideal.signals["imu.accel"].values.reshape(-1, n, 3)
    frames, load = ideal.vehicles, ideal.payload
    for k, cable in enumerate(ideal.rig.cables):
        end = load.point(cable.end.point)[0][rows]
        line = end - frames.position[rows, k]
        pull = ideal.cables.tension[rows, k, None] * line / np.linalg.norm(line, axis=-1, keepdims=True)
        mass = ideal.rig.airframes[k].mass
        thrust = (
            ideal.inputs.thrust[:-1, k, None] * turn(frames.attitude[rows, k], np.array([0.0, 0.0, 1.0]))[1:]
        )
        felt = turn(frames.attitude[rows, k], force[:, k])[1:]
        # the reading is a mean over 10 ms, the balance that of its end
        assert np.abs(felt[1:] - (thrust + pull[1:])[1:] / mass).max() < 0.03
    # without the cable's pull it would be metres per second squared away
    assert ideal.cables.tension[rows].min() / 0.25 > 2.0


def test_integrals_of_an_ideal_imu_are_exact(ideal: skyrig.Flight) -> None:
    rows, dt, down = at_ticks(ideal), 0.01, np.array([0.0, 0.0, -9.81])
    force = ideal.signals["imu.accel"].values.reshape(-1, 1, 3)
    rate = ideal.signals["imu.gyro"].values.reshape(-1, 1, 3)
    velocity, attitude = ideal.vehicles.velocity[rows], ideal.vehicles.attitude[rows]
    v, q = velocity[0], attitude[0]
    for k in range(1, len(rows)):
        middle = multiply(q, of_vector(rate[k] * dt / 2))
        v, q = v + dt * (turn(middle, force[k]) + down), multiply(q, of_vector(rate[k] * dt))
    assert np.abs(v - velocity[-1]).max() < 1e-11
    assert np.abs(vector_of(multiply(q * [1, -1, -1, -1], attitude[-1]))).max() < 1e-11


def test_an_impact_is_a_spike_of_its_impulse_and_ends_at_the_range() -> None:
    still = Track(*(np.zeros((1, 3)), np.zeros((1, 3)), np.array([[1.0, 0, 0, 0]]), np.zeros((1, 3))))
    hit = Track(still.position, np.array([[0.0, 0.0, -0.3]]), still.attitude, still.rate)
    frame = skyrig.airframe("dragonfly")
    carrier = Carrier([frame], {"vehicles": 1}, (), 100.0)
    none = np.zeros(1), np.zeros((1, 3)), np.zeros(0)
    for most, expected in ((1000.0, 9.81 - 30.0), (16.0, -16.0)):
        imu = Imu(ImuSpec(**IDEAL["imu"], accel_range=most), carrier)
        random = np.random.default_rng(0)
        imu.sample(Truth(0.0, {"vehicles": still}, *none), random)
        read = imu.sample(Truth(0.01, {"vehicles": hit}, *none), random)
        assert read["imu.accel"][0, 2] == pytest.approx(expected)


def test_ideal_readings_are_the_truth(ideal: skyrig.Flight) -> None:
    rows, signals = at_ticks(ideal), ideal.signals
    place = ideal.vehicles.position[rows]
    assert np.array_equal(signals["gnss.position"].values.reshape(-1, 1, 3), place)
    assert np.array_equal(
        signals["motion_capture.payload.position"].values.reshape(-1, 3), ideal.payload.position[rows]
    )
    height = pressure_altitude(signals["barometer.pressure"].values) - 488.0
    assert np.abs(height[::2] - place[::2, :, 2]).max() < 1e-6  # 50 Hz: every other tick
    field = turn(ideal.vehicles.attitude[rows], signals["magnetometer.field"].values.reshape(-1, 1, 3))
    assert np.abs(field[::2] - [1.1, 21.5, -43.0]).max() < 1e-9
    assert np.array_equal(signals["tension_cells.tension"].values[1:], ideal.cables.tension[rows][1:])
    line = ideal.payload.position[rows] - ideal.vehicles.position[rows, 0]
    seen = turn(ideal.vehicles.attitude[rows, 0], signals["cable_directions.direction"].values)
    assert np.allclose(seen, line / np.linalg.norm(line, axis=1, keepdims=True), atol=1e-12)
    frame, speeds = ideal.rig.airframes[0], signals["rotor_speeds.speed"].values.reshape(-1, 1, 4)
    thrust = frame.thrust_coefficient * (speeds[1:] ** 2).sum(-1)
    assert np.abs(thrust - ideal.inputs.thrust[:-1]).max() < 1e-9


def test_noise_is_as_large_as_said_and_comes_from_the_seed(noisy: skyrig.Flight) -> None:
    rows = at_ticks(noisy)
    off = noisy.signals["gnss.position"].values.reshape(-1, 1, 3)[::10] - noisy.vehicles.position[rows][::10]
    assert 0.05 < off[..., :2].std() < 0.15
    again = skyrig.fly(instrumented(dict.fromkeys(ALL, {})))
    other = skyrig.fly(instrumented(dict.fromkeys(ALL, {})).with_overrides({"seed": 1}))
    fewer = skyrig.fly(instrumented({"gnss": {}}))
    for name, signal in noisy.signals.items():
        if name.split(".")[0] in ALL[:-1]:  # a battery's monitor has no noise
            assert np.array_equal(signal.values, again.signals[name].values, equal_nan=True)
            assert not np.array_equal(signal.values, other.signals[name].values, equal_nan=True)
    assert np.array_equal(noisy.signals["gnss.position"].values, fewer.signals["gnss.position"].values)
    assert np.array_equal(noisy.payload.position, fewer.payload.position), "sensors do not disturb"


def test_noise_densities_do_not_depend_on_the_rate() -> None:
    said = ImuSpec(accel_bias=0.0, gyro_bias=0.0, accel_walk=0.0, gyro_walk=0.0, accel_noise=0.01)
    frame = skyrig.airframe("dragonfly")
    carrier = Carrier([frame] * 40, {"vehicles": 40}, (), 100.0)
    still = Track(*(np.zeros((40, 3)),) * 2, np.tile([1.0, 0, 0, 0], (40, 1)), np.zeros((40, 3)))
    for rate in (50, 800):
        imu, random, speed = Imu(said, carrier), np.random.default_rng(3), np.zeros((40, 3))
        for k in range(rate + 1):
            read = imu.sample(
                Truth(k / rate, {"vehicles": still}, np.zeros(40), np.zeros((40, 3)), np.zeros(0)), random
            )
            speed = speed + (read["imu.accel"] - [0, 0, 9.81]) / rate * (k > 0)
        assert 0.008 < speed.std() < 0.0125  # a density of 0.01 makes 0.01 m/s in a second


def test_motion_capture_is_late_and_has_gaps() -> None:
    said = {"rate": 50.0, "delay": 0.03, "position": 0.0, "attitude": 0.0, "out": [[0.4, 0.6]], "lost": 0.2}
    session = skyrig.Session(instrumented({"motion_capture": said}))
    arrived = []
    while not session.done:
        reading = session.sensors["motion_capture"]
        if reading.fresh:
            arrived.append((session.time, reading.time))
        session.step()
    assert all(now - taken == pytest.approx(0.03) for now, taken in arrived)
    assert not any(0.4 <= taken < 0.6 for _, taken in arrived)
    assert 20 <= len(arrived) <= 38  # of 39 that could arrive, a fifth is lost and ten fall into the gap


def test_what_is_read_live_is_what_is_recorded(noisy: skyrig.Flight) -> None:
    session = skyrig.Session(instrumented(dict.fromkeys(ALL, {})))
    for k in range(30):
        if k == 12:
            here = session.save()
        for reading in session.sensors.values():
            for name, values in reading.values.items():
                recorded = noisy.signals[name].values[k]
                assert np.array_equal(values.reshape(-1), recorded, equal_nan=True), (k, name)
        session.step()
    last = session.sensors["imu"].values["imu.accel"]
    session.restore(here)
    session.step(ticks=18)
    assert np.array_equal(session.sensors["imu"].values["imu.accel"], last)


def test_what_cannot_be_mounted_is_refused_in_a_sentence() -> None:
    cases = {
        "sensors.imu": ({"rate": 300.0}, "sensors.imu.rate must be at most loop.control_rate, 100 Hz"),
        "sensors.gnss": ({"horizontal": -1.0}, "sensors.gnss.horizontal"),
        "sensors.imv": ({}, "did you mean 'imu'"),
    }
    for path, (said, sentence) in cases.items():
        with pytest.raises(InputError, match=sentence):
            skyrig.load("three-dragonflies-circle").with_overrides({path: said})
    with pytest.raises(InputError, match="sensors.tension_cells needs cables"):
        skyrig.load("three-dragonflies-links").with_overrides({"sensors.tension_cells": {}})


def test_a_sensor_of_ones_own_is_one_class(ideal: skyrig.Flight) -> None:
    from skyrig.sensing import Quantity, Sensor, SensorSpec

    class Altimeter(Sensor):
        def quantities(self) -> tuple[Quantity, ...]:
            return (Quantity("altimeter.height", "m", (1,), "above the floor"),)

        def sample(self, truth: Truth, random: np.random.Generator) -> dict[str, np.ndarray]:
            return {"altimeter.height": truth.vehicles.position[:, 2]}

    class AltimeterSpec(SensorSpec, frozen=True, kw_only=True):
        def build(self, carrier: Carrier) -> Sensor:
            return Altimeter()

    sensors = Sensors({"altimeter": AltimeterSpec(rate=2.0)}, Carrier([], {}, (), 100.0), 0)
    heights = []
    for row in range(0, 500, 50):
        bodies = {"vehicles": ideal.vehicles.at(row)}
        truth = Truth(ideal.times[row], bodies, np.zeros(1), np.zeros((1, 3)), np.zeros(0))
        heights.append(sensors.show(truth)["altimeter"].fresh)
    assert heights == [k in (0, 5) for k in range(10)]  # twice a second


def test_places_on_the_earth_go_there_and_back() -> None:
    places = np.random.default_rng(0).uniform(-500, 500, (50, 3))
    assert np.abs(local(geodetic(places)) - places).max() < 1e-6
    assert geodetic(np.array([0.0, 111.2, 0.0]))[0] - 47.397742 == pytest.approx(1e-3, rel=2e-3)
    assert pressure(0.0) == pytest.approx(101325.0) and pressure(11000.0) == pytest.approx(22632.0, rel=1e-3)


def test_a_battery_gives_what_rotors_draw() -> None:
    frame = skyrig.airframe("dragonfly")
    said = BatterySpec(capacity=0.01, resistance=0.1, electronics=1.0)
    sensors = Sensors({"battery": said}, Carrier([frame], {"vehicles": 1}, (), 100.0), 0)
    still = Track(np.zeros((1, 3)), np.zeros((1, 3)), np.array([[1.0, 0, 0, 0]]), np.zeros((1, 3)))
    read = []
    for tick in range(200):
        truth = Truth(tick / 100, {"vehicles": still}, np.array([2.4]), np.zeros((1, 3)), np.zeros(0))
        read.append(sensors.show(truth)["battery"].values)
    voltage, current, charge = (
        np.array([it[f"battery.{word}"][0] for it in read]) for word in ("voltage", "current", "charge")
    )
    # four rotors at 0.6 N each, torque times speed, over the efficiency; and the electronics
    speed = np.sqrt(0.6 / frame.thrust_coefficient)
    power = 4 * frame.torque_coefficient * speed**3 / 0.6 + 1.0
    assert np.allclose(voltage * current, power, rtol=1e-12)
    rest = 3 * (3.3 + 0.9 * charge)
    assert np.allclose(rest - voltage, 0.1 * current, atol=1e-12), "the rest is lost inside"
    assert charge[0] - charge[-1] == pytest.approx(current[:-1].sum() * 0.01 / 3600 / 0.01)
    assert (np.diff(voltage) < 0).all()
