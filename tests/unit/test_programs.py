"""Programs that are kept on disk: traced once, the same bits again, and never somebody else's."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array

from skyrig import Cable, Slung, airframe, payload, programs, rollout, trim
from skyrig.programs import Program
from skyrig.sim import Effort, openloop
from skyrig.sim.packing import Packed


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(programs, "_folder", lambda: tmp_path / "programs")
    return tmp_path / "programs"


def doubling():
    """A function that counts how often it is traced."""
    traces = []

    def double(inputs: Effort) -> Effort:
        traces.append(None)
        return jax.tree.map(lambda leaf: 2 * jnp.sin(leaf), inputs)

    return double, traces


def some(count: int = 2) -> Effort:
    return Effort(jnp.linspace(1.0, 2.0, count), jnp.ones((3, count)))


def like(inputs: Effort) -> Effort:
    return inputs


def test_another_process_need_not_trace(folder):
    double, traces = doubling()
    first = Program(double, like)(some())
    assert len(traces) == 1 and len(list(folder.iterdir())) == 1
    again = Program(double, like)(some())
    assert len(traces) == 1, "it was read from the disk"
    np.testing.assert_array_equal(first.thrust, again.thrust)
    np.testing.assert_array_equal(first.thrust, 2 * np.sin(some().thrust))


def test_other_numbers_run_the_same_program_and_other_shapes_another(folder):
    double, traces = doubling()
    program = Program(double, like)
    program(some())
    changed = program(jax.tree.map(lambda leaf: leaf + 1, some()))
    assert len(traces) == 1 and changed.thrust[0] == pytest.approx(2 * np.sin(2.0))
    program(some(3))
    assert len(traces) == 2 and len(list(folder.iterdir())) == 2


def test_a_damaged_file_is_made_again(folder):
    double, traces = doubling()
    Program(double, like)(some())
    (kept,) = folder.iterdir()
    whole = kept.read_bytes()
    for count, content in enumerate((b"", b"nonsense", whole[: len(whole) // 2]), start=2):
        kept.write_bytes(content)
        for _ in range(2):
            np.testing.assert_array_equal(Program(double, like)(some()).thrust, 2 * np.sin(some().thrust))
            assert len(traces) == count


def test_other_source_is_another_program(folder, monkeypatch):
    double, traces = doubling()
    Program(double, like)(some())
    monkeypatch.setattr(programs, "_source", lambda: "changed")
    Program(double, like)(some())
    assert len(traces) == 2


def test_what_is_not_skyrigs_own_is_not_kept(folder):
    class Own(eqx.Module):
        value: Array

    def double(own):
        return Own(2 * own.value)

    given = Program(double, lambda own: own)(Own(jnp.ones(2)))
    np.testing.assert_array_equal(given.value, [2.0, 2.0])
    assert not folder.exists()
    # nor where it lies packed in a row, beside what is no array; and one program serves every call
    row = Packed.of((Own(jnp.ones(2)), jnp.tanh), jnp.float64)
    program = Program(lambda it: (jnp.tanh(it.tree()[0].value) + it.tree()[1](0.0),), lambda it: (0,))
    call = program.ready(row)
    np.testing.assert_allclose(call(row.rows)[0], np.tanh([1.0, 1.0]))
    assert not folder.exists() and program.ready(row) is call


def test_without_a_folder_and_where_nothing_can_be_written_it_works_all_the_same(tmp_path, monkeypatch):
    double, _ = doubling()
    monkeypatch.setattr(programs, "_folder", lambda: None)
    np.testing.assert_array_equal(Program(double, like)(some()).thrust, 2 * np.sin(some().thrust))
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setattr(programs, "_folder", lambda: tmp_path / "file" / "programs")
    np.testing.assert_array_equal(Program(double, like)(some()).thrust, 2 * np.sin(some().thrust))


def test_the_folder_follows_jaxs_cache_and_can_be_left_out(monkeypatch):
    apart = programs._folder()
    assert apart is not None and apart.name == programs.KEEP == "checked", (
        "what was traced unchecked is no test"
    )
    monkeypatch.setattr(programs, "KEEP", "0")
    assert programs._folder() is None
    monkeypatch.setattr(programs, "KEEP", "1")
    assert programs._folder() == apart.parent
    before = jax.config.jax_compilation_cache_dir
    try:
        jax.config.update("jax_compilation_cache_dir", None)
        assert programs._folder() is None
    finally:
        jax.config.update("jax_compilation_cache_dir", before)


@pytest.mark.slow
def test_a_kept_flight_is_the_flight(folder, monkeypatch):
    rig = Slung.build([airframe("dragonfly")], payload("point-mass"), [Cable(1.0)])
    hover = trim(rig, [0, 0, 2.0])
    times = np.array([0.0, 0.3, 0.6])
    thrust = np.array([[0.0], [2.0 * hover.thrust[0]]])  # falls slack, then comes taut with a jerk

    def flown():
        monkeypatch.setattr(openloop, "_fly", Program(openloop._fly_plan, lambda *given: (given[-1], 0)))
        return rollout(rig, hover.state, times, thrust)

    kept, again = flown(), flown()
    assert len(list(folder.iterdir())) == 1
    np.testing.assert_array_equal(kept.payload.position, again.payload.position)
    monkeypatch.setattr(programs, "_folder", lambda: None)
    fresh = flown()
    np.testing.assert_allclose(kept.payload.position, fresh.payload.position, rtol=0, atol=1e-12)
    assert [it.kind for it in kept.events] == [it.kind for it in fresh.events]
    np.testing.assert_allclose([it.time for it in kept.events], [it.time for it in fresh.events], atol=1e-12)
