"""A stranger's file: its mechanism, element and controller fly, record, draw, batch and train as ours do."""

import shutil
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from pages import write_files

import skyrig
from skyrig import envs, register
from skyrig.flight import Flight
from skyrig.flight.frames import of_flight
from skyrig.flight.playback import page
from skyrig.scenario import Scenario
from skyrig.scenario.vary import varied
from skyrig.studio.live import Live

PAGE = Path(__file__).parents[2] / "docs" / "extending.md"
SKYRIG = Path(sys.executable).with_name("skyrig")
VARY = {"rig.stiffness": "uniform(15, 30)", "world.breeze.force": "uniform(0, 0.1)"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("own")
    write_files(PAGE.read_text(encoding="utf-8"), place)
    register.file(place / "mine.py")
    return place


@pytest.fixture(scope="module")
def scenario(folder: Path) -> Scenario:
    return skyrig.load(folder / "band.yaml").with_overrides({"duration": 0.5})


@pytest.fixture(scope="module")
def flight(scenario: Scenario) -> Flight:
    return skyrig.fly(scenario)


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([SKYRIG, *arguments], cwd=folder, capture_output=True, text=True, timeout=300)


@pytest.mark.slow
def test_the_command_line_flies_it_and_its_flight_needs_the_file_no_more(folder: Path) -> None:
    ran = run(folder, "fly", "band.yaml", "--with", "mine.py", "--duration", "0.5")
    assert ran.returncode == 0, ran.stderr
    made = folder / "flights" / "band"
    assert {"path.png", "signals.png", "report.html"} <= {it.name for it in made.iterdir()}
    assert "data-player" in (made / "report.html").read_text(encoding="utf-8")
    elsewhere = shutil.copytree(made, folder / "elsewhere" / "band")
    ran = run(folder / "elsewhere", "export", "band", "--csv")
    assert ran.returncode == 0, ran.stderr
    head = (elsewhere / "flight.csv").read_text(encoding="utf-8").splitlines()[0]
    assert "band0.tension (N)" in head and "payload.position.x (m)" in head
    ran = run(folder, "fly", str(elsewhere / "scenario.yaml"))
    assert ran.returncode == 2 and "--with mine.py" in ran.stderr and ran.stderr.count("\n") == 1


def test_its_signals_and_its_file_are_recorded(flight: Flight) -> None:
    pull = flight.signals["band.tension"]
    assert (pull.unit, pull.owner) == ("N", "band") and np.asarray(pull).shape == (len(flight.times), 1)
    assert np.asarray(pull)[0, 0] == pytest.approx(0.07 * 9.81, rel=0.2)
    assert "mine.py" in flight.scenario and "sha256" in flight.scenario
    assert "tension" in page(of_flight(flight), flight.rig, flight.events)


def test_a_batch_flies_as_each_alone(scenario: Scenario) -> None:
    many = skyrig.fly_many(scenario, 3, VARY)
    for k, changes in enumerate(varied(scenario, VARY, 3)[:2]):
        alone = skyrig.fly(scenario.with_overrides(changes)).metrics["tracking"]["whole"]["position_rmse"]
        assert many.metrics["position_rmse"][k] == pytest.approx(alone, abs=1e-12)


@pytest.mark.slow
def test_the_element_acts_and_differentiates(scenario: Scenario) -> None:
    built = scenario.build()
    breeze, hover = built.elements["breeze"], built.hover
    assert hover is not None

    def end(force: jax.Array) -> jax.Array:
        blown = {"breeze": type(breeze)(force, breeze.speed)}
        flown = skyrig.rollout(built.rig, built.state, [0.0, 0.1], hover.thrust, elements=blown, at=[0.1])
        return flown.vehicles.position[-1, 0, 0]

    slope, size = float(jax.grad(end)(jnp.asarray(0.05))), 1e-3
    apart = float(end(jnp.asarray(0.05 + size)) - end(jnp.asarray(0.05 - size)))
    assert slope > 0 and slope == pytest.approx(apart / (2 * size), rel=1e-6)


@pytest.mark.slow
def test_it_plays_in_the_studio_and_trains(scenario: Scenario) -> None:
    live = Live(scenario.build())
    frames, _ = live.advance()
    assert np.isfinite(frames.signals["band.tension"]).all() and set(frames.bodies) == {"payload", "vehicles"}
    env = envs.build("hover", scenario)
    state, seen = env.reset(jax.random.PRNGKey(0))
    _, after, reward, failed, _, _ = env.step(state, jnp.zeros((env.action_size, env.count)))
    assert seen.shape == after.shape and np.isfinite(reward) and not failed
