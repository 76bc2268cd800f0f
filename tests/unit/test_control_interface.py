"""What every controller must do: hover exactly, in batches as alone, without compiling twice."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from control_loop import linked, slung

from skyrig import InputError, trim
from skyrig.control import Command, Function, Measurement, build, row, targets
from skyrig.planning import circle, hover
from skyrig.rigs import Bodies, Loads
from skyrig.sim.batch import spread, stack
from skyrig.sim.pilot import measure

PAYLOAD = [("cables", "full"), ("cables", "published")]
VEHICLE = [
    ("vehicle", "full"),
    ("vehicle", "published"),
    ("yaw-decoupled", "full"),
    ("point-robot", "full"),
    ("attitude", "full"),
]
TEAMS = {
    "one": lambda: slung(1, 0.5, "point-mass"),
    "bar": lambda: slung(2, 0.5, "bar"),
    "triangle": lambda: slung(3, 1.0),
    "mixed": lambda: slung(3, (1.2, 0.8, 1.0), craft=("dragonfly", "race", "hummingbird")),
    "box": lambda: slung(6, 0.5, "box"),
    "crowd": lambda: slung(4, 0.8, "point-mass"),
}


def held(rig, state, name, controller, ticks=3):
    """Targets of a rig that stays where it is: of the payload, or of the vehicles."""
    times = np.zeros(ticks)
    groups = rig.bodies(state)
    load, craft = groups["payload"].only(), groups["vehicles"]
    if name in ("cables", "links"):
        return targets(controller, hover(start=np.array(load.position)).sample(times))
    places = np.array(craft.position).T
    return targets(controller, vehicles=[hover(start=place).sample(times) for place in places])


@eqx.filter_jit
def flown(controller, wanted, seen, ticks):
    """The memory after so many ticks, and all commands: one program, for op by op they would be hundreds."""

    def tick(memory, k):
        return controller(memory, 0.01 * k, row(wanted, k), seen)

    return jax.lax.scan(tick, controller.start(seen), jnp.arange(ticks))


def last(flight):
    """Memory and command of the last tick, as plain numbers."""
    memory, commands = jax.tree.map(np.asarray, flight)
    return memory, row(commands, -1)


# only the full cable controller spreads vehicles that share an attachment
HOVERS = [
    (team, *kind)
    for kind in PAYLOAD + VEHICLE
    for team in TEAMS
    if team != "crowd" or kind == ("cables", "full")
]


@pytest.mark.parametrize(("team", "name", "flavour"), HOVERS)
def test_hover_is_an_exact_equilibrium(team, name, flavour):
    rig, airframes = TEAMS[team]()
    still = trim(rig, [0.3, -0.2, 1.0])
    controller = build(name, rig, airframes, flavour=flavour)
    wanted = held(rig, still.state, name, controller)
    _, commands = flown(controller, wanted, measure(rig, still.state), 3)
    for thrust, moment in zip(commands.thrust, commands.moment, strict=True):
        np.testing.assert_allclose(thrust, still.thrust, atol=1e-9)
        np.testing.assert_allclose(moment.T, still.moment, atol=1e-9)


@pytest.mark.parametrize("flavour", ["full", "published"])
@pytest.mark.parametrize("craft", ["dragonfly", ("dragonfly", "race", "hummingbird")])
def test_linked_hover_is_an_exact_equilibrium(flavour, craft):
    rig, airframes = linked(craft=craft, yaw=[0.0, 0.4, -1.0])
    still = trim(rig, [0.3, -0.2, 1.0], [np.cos(0.2), 0, 0, np.sin(0.2)])
    controller = build("links", rig, airframes, flavour=flavour)
    wanted = targets(controller, hover(start=[0.3, -0.2, 1.0], attitude=0.4).sample(np.zeros(1)))
    _, commands = flown(controller, wanted, measure(rig, still.state), 1)
    command = row(commands, 0)
    rate = eqx.filter_jit(rig.derivative)(0.0, still.state, Loads(command.thrust, command.moment))
    for leaf in jax.tree.leaves(rate):
        np.testing.assert_allclose(leaf, 0, atol=1e-9)
    # and every rotor is inside its limits, however unlike the vehicles are
    for each, thrust in zip(airframes, command.thrust, strict=True):
        assert each.total_thrust_min < thrust < each.total_thrust_max


def disturbed(rig, state, rng):
    """A measurement off the reference in every way."""
    seen = measure(rig, state)

    def moved(body):
        shape = body.rate.shape
        attitude = body.attitude + 0.05 * rng.normal(size=body.attitude.shape)
        return Bodies(
            body.position + 0.02 * rng.normal(size=shape),
            body.velocity + 0.1 * rng.normal(size=shape),
            attitude / jnp.linalg.norm(attitude, axis=0),
            body.rate + 0.2 * rng.normal(size=shape),
        )

    return Measurement({group: moved(them) for group, them in seen.bodies.items()}, seen.readings)


@pytest.mark.parametrize(("name", "flavour"), [*PAYLOAD, *VEHICLE, ("links", "full"), ("links", "published")])
@pytest.mark.parametrize("apart", [False, True], ids=["one controller for all", "one for each"])
def test_a_batch_is_its_flights(name, flavour, apart):
    rig, airframes = linked() if name == "links" else slung(3, 1.0)
    state = trim(rig, [0.0, 0.0, 1.0]).state
    rng = np.random.default_rng(3)
    seen = [disturbed(rig, state, rng) for _ in range(4)]
    controller = build(name, rig, airframes, flavour=flavour)
    reference = circle(radius=1, period=6, start=(0, 0, 1)).sample(np.array([9.0, 9.01]))
    given = {"payload": reference} if name in ("cables", "links") else {"vehicles": [reference] * 3}
    wanted = targets(controller, **given)
    whole = stack(seen)
    many = spread(controller, 4) if apart else controller
    memory, command = last(flown(many, targets(many, **given), whole, 2))
    for i, one in enumerate(seen):
        alone, expected = last(flown(controller, wanted, one, 2))
        np.testing.assert_allclose(command.thrust[..., i], expected.thrust, rtol=1e-9)
        np.testing.assert_allclose(command.moment[..., i], expected.moment, rtol=1e-7, atol=1e-10)
        for a, b in zip(jax.tree.leaves(memory), jax.tree.leaves(alone), strict=True):
            np.testing.assert_allclose(a[..., i], b, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["cables", "links"])
def test_numbers_never_compile_again(name):
    rig, airframes = linked() if name == "links" else slung(3, 1.0)
    state = trim(rig, [0.0, 0.0, 1.0]).state
    count = 0

    @eqx.filter_jit
    def once(controller, wanted, seen):
        nonlocal count
        count += 1
        return controller(controller.start(seen), 0.0, row(wanted, 0), seen)[1]

    thrusts = []
    for position, load in ((2.0, 1.0), (2.5, 1.0), (2.0, 1.1)):
        controller = build(name, rig, airframes, gains={"position": position})
        weigh = (lambda c: c.payload_mass) if name == "cables" else (lambda c: c.mass)
        controller = eqx.tree_at(weigh, controller, weigh(controller) * load)
        wanted = held(rig, state, name, controller)
        seen = measure(rig, state)
        seen = eqx.tree_at(
            lambda m: m.bodies["payload"].position, seen, seen.bodies["payload"].position + 0.01
        )
        thrusts.append(np.asarray(once(controller, wanted, seen).thrust))
    assert count == 1
    assert np.ptp(np.stack(thrusts), axis=0).min() > 1e-3


def test_float32_stays_float32():
    rig, airframes = slung(3, 1.0)
    state = trim(rig, [0.0, 0.0, 1.0]).state
    controller = build("cables", rig, airframes)
    seen = jax.tree.map(lambda leaf: leaf.astype(jnp.float32), measure(rig, state))
    memory, command = last(flown(controller, held(rig, state, "cables", controller), seen, 1))
    assert command.thrust.dtype == command.moment.dtype == memory.push.dtype == jnp.float32
    np.testing.assert_allclose(command.thrust, trim(rig, [0.0, 0.0, 1.0]).thrust, rtol=1e-5)


def test_a_plain_function_is_a_controller():
    def law(memory, t, target, seen):
        lift = 9.81 + 4 * (target.payload.position[0, 2] - seen.payload.position[2])
        return memory + 1, Command(0.32 * lift * jnp.ones_like(seen.length), 0 * seen.vehicles.rate)

    rig, _ = slung(1, 0.5, "point-mass")
    controller = Function(law, memory=0)
    state = trim(rig, [0.0, 0.0, 1.0]).state
    wanted = targets(controller, hover(start=(0, 0, 1.5)).sample(np.zeros(2)))
    seen = measure(rig, state)
    memory, command = controller(controller.start(seen), 0.0, row(wanted, 0), seen)
    assert memory == 1
    np.testing.assert_allclose(command.thrust, [0.32 * (9.81 + 2)])


def test_rows_of_targets():
    rig, airframes = slung(3, 1.0)
    controller = build("cables", rig, airframes)
    sample = circle(radius=1, period=6).sample(np.arange(5) * 0.01)
    wanted = targets(controller, sample)
    third = row(wanted, 3)
    np.testing.assert_array_equal(third.payload.position, sample.position[3])
    np.testing.assert_array_equal(third.payload.rate, sample.rate[3])
    assert third.nominal.vehicle.shape == (4, 3, 3)
    each = targets(build("vehicle", rig, airframes), vehicles=[sample] * 3)
    assert row(each, 3).vehicles.position.shape == (7, 3, 3)
    np.testing.assert_array_equal(row(each, 3).vehicles.position[..., 1], sample.position[3])


def test_the_wrong_reference_is_named():
    rig, airframes = slung(3, 1.0)
    sample = hover().sample(np.zeros(2))
    with pytest.raises(InputError, match="motion of the vehicles"):
        targets(build("vehicle", rig, airframes), sample)
    with pytest.raises(InputError, match="motion of the payload"):
        targets(build("cables", rig, airframes), vehicles=[sample] * 3)
    with pytest.raises(InputError, match="both are None"):
        targets(build("cables", rig, airframes))
