"""Slices of which a finger is a stack: their nodes, how these interpolate, and where a slice is integrated.

A finger is a prism cut across into equal slices. A slice has the nodes of its lower face, then those in
between, then those of its upper face, so that a stack couples only neighbours: its stiffness is block
tridiagonal whatever the elements. Plain NumPy; nothing here depends on sizes or materials.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from skyrig.checks import Numbers, choice
from skyrig.errors import InputError

KINDS = {
    "H8": "linear hexahedra: too stiff in bending, for comparison",
    "H20": "quadratic hexahedra without nodes on their faces: the default",
    "H27": "quadratic hexahedra with nodes on their faces",
    "T4": "linear tetrahedra, six a cell: the paper's, far too stiff in bending unless very fine",
}
"""Elements by name."""


@dataclass(frozen=True)
class Slice:
    """A slice of the square [-1, 1] x [-1, 1], from z = -1 to z = 1."""

    kind: str
    nodes: Numbers
    """(n, 3) lower face, between, upper face."""
    face: int
    """How many nodes a face has."""
    gradient: Numbers
    """(g, n, 3) of the nodes' functions where the slice is integrated."""
    weight: Numbers
    """(g,) of those points; they sum to 8."""
    overlap: Numbers
    """(n, n) integrals of products of two nodes' functions: the mass of density one."""
    moments: Numbers
    """(3, face) integrals of a face node's function times 1, x and y over the face."""
    cells: int
    """Elements along a side of the cross-section."""

    @property
    def between(self) -> int:
        """How many nodes lie between the faces."""
        return len(self.nodes) - 2 * self.face

    def at(self, points: Numbers) -> Numbers:
        """(p, n) weights of the nodes at points of the slice, (p, 3)."""
        return np.stack([self._at(point) for point in np.atleast_2d(points)])

    def _at(self, point: Numbers) -> Numbers:
        return _tetrahedral_at(self, point) if self.kind == "T4" else _hexahedral_at(self, point)


@cache
def slice_of(kind: str, cells: int = 1) -> Slice:
    """A slice of `cells` x `cells` elements (T4: cells of six) of a kind, one of `KINDS`."""
    choice("elements", kind, KINDS)
    if not 1 <= cells <= 8:
        raise InputError(f"cells must be from 1 to 8, not {cells}.")
    return _tetrahedra(cells) if kind == "T4" else _hexahedra(kind, cells)


# Hexahedra


@cache
def _hexahedron(kind: str) -> tuple[Numbers, list[tuple[int, int, int]], Numbers]:
    """Nodes of the cube [-1, 1]^3, powers of x, y and z, and coefficients of the nodes' functions."""
    powers = []
    for power in itertools.product(range(3), repeat=3):
        beyond_linear = sum(p for p in power if p > 1)
        if max(power) <= 1 or kind == "H27" or (kind == "H20" and beyond_linear <= 2):
            powers.append(power)
    middles = {"H8": 0, "H20": 1, "H27": 3}[kind]
    nodes = [
        point
        for point in itertools.product((-1.0, 0.0, 1.0), repeat=3)
        if sum(x == 0 for x in point) <= middles
    ]
    place = np.array(nodes)
    table = np.array([[np.prod(np.power(p, q)) for q in powers] for p in place])
    return place, powers, np.linalg.inv(table)


def _values(kind: str, points: Numbers) -> Numbers:
    """(p, nodes of a cube) functions at points of the cube."""
    _, powers, coefficients = _hexahedron(kind)
    return np.array([[np.prod(np.power(p, q)) for q in powers] for p in points]) @ coefficients


def _slopes(kind: str, points: Numbers) -> Numbers:
    """(p, nodes of a cube, 3) gradients of the functions at points of the cube."""
    _, powers, coefficients = _hexahedron(kind)

    def term(point: Numbers, power: tuple[int, int, int], axis: int) -> float:
        left = list(power)
        left[axis] -= 1
        return 0.0 if left[axis] < 0 else power[axis] * float(np.prod(np.power(point, left)))

    table = np.array([[[term(p, q, axis) for axis in range(3)] for q in powers] for p in points])
    return np.einsum("pqi,qn->pni", table, coefficients)


def gauss(dimensions: int, order: int = 3) -> tuple[Numbers, Numbers]:
    """Points and weights of Gauss's rule on the cube (or square) [-1, 1]^dimensions."""
    x, w = np.polynomial.legendre.leggauss(order)
    points = np.array(list(itertools.product(x, repeat=dimensions)))
    weights = [float(np.prod(each)) for each in itertools.product(w, repeat=dimensions)]
    return points, np.array(weights)


def _corners(cells: int) -> list[tuple[float, float]]:
    """Centres of the cells of the square."""
    line = (2 * np.arange(cells) + 1) / cells - 1
    return [(x, y) for x in line for y in line]


def _hexahedra(kind: str, cells: int) -> Slice:
    cube = _hexahedron(kind)[0]
    scale = np.array([1 / cells, 1 / cells, 1.0])
    placed = np.concatenate([cube * scale + [x, y, 0.0] for x, y in _corners(cells)])
    nodes = np.unique(placed.round(12), axis=0)
    nodes = nodes[np.lexsort((nodes[:, 1], nodes[:, 0], nodes[:, 2]))]
    face = int((nodes[:, 2] == -1).sum())
    who = [_indices(nodes, cube * scale + [x, y, 0.0]) for x, y in _corners(cells)]
    # fewer points along a slice would do in bending, but slices that are crushed then fold at no cost
    points, weights = gauss(3, 2 if kind == "H8" else 3)
    values, slopes = _values(kind, points), _slopes(kind, points) / scale
    gradient = np.zeros((len(who), len(points), len(nodes), 3))
    overlap = np.zeros((len(nodes), len(nodes)))
    mass = np.einsum("p,pa,pb->ab", weights / cells**2, values, values)
    for k, own in enumerate(who):
        gradient[k][:, own] = slopes
        overlap[np.ix_(own, own)] += mass
    made = Slice(
        kind,
        nodes,
        face,
        gradient.reshape(-1, len(nodes), 3),
        np.tile(weights / cells**2, len(who)),
        overlap,
        np.zeros((3, face)),
        cells,
    )
    flat, area = gauss(2)
    places = np.concatenate([flat / cells + centre for centre in _corners(cells)])
    return _with_moments(made, places, np.tile(area / cells**2, len(who)))


def _hexahedral_at(whole: Slice, point: Numbers) -> Numbers:
    cells = whole.cells
    cell = np.clip(((point[:2] + 1) * cells / 2).astype(int), 0, cells - 1)
    centre = (2 * cell + 1) / cells - 1
    inside = np.array([*((point[:2] - centre) * cells), point[2]])
    cube = _hexahedron(whole.kind)[0]
    weights = np.zeros(len(whole.nodes))
    own = _indices(whole.nodes, cube * [1 / cells, 1 / cells, 1.0] + [*centre, 0.0])
    weights[own] = _values(whole.kind, inside[None])[0]
    return weights


# Tetrahedra


@cache
def _tetrahedra_of_cells(cells: int) -> tuple[Numbers, npt.NDArray[np.int64]]:
    """Nodes and (t, 4) corners of Kuhn's six tetrahedra in each cell: all share the cell's long diagonal."""
    line = np.linspace(-1, 1, cells + 1)
    nodes = np.array([(x, y, z) for z in (-1.0, 1.0) for x in line for y in line])
    row = cells + 1

    def node(corner: npt.NDArray[np.int64]) -> int:
        return int(corner[2] * row * row + corner[0] * row + corner[1])

    found = []
    for x, y in itertools.product(range(cells), repeat=2):
        for order in itertools.permutations(range(3)):
            corner = np.array([x, y, 0])
            path = [node(corner)]
            for axis in order:
                corner = corner + np.eye(3, dtype=int)[axis]
                path.append(node(corner))
            found.append(path)
    return nodes, np.array(found)


def _tetrahedra(cells: int) -> Slice:
    nodes, corners = _tetrahedra_of_cells(cells)
    count = len(nodes)
    gradient, weight = np.zeros((len(corners), count, 3)), np.zeros(len(corners))
    overlap = np.zeros((count, count))
    for k, own in enumerate(corners):
        table = np.linalg.inv(np.c_[np.ones(4), nodes[own]])  # rows: 1, x, y, z; columns: corners
        gradient[k, own] = table[1:].T
        weight[k] = abs(np.linalg.det(nodes[own[1:]] - nodes[own[0]])) / 6
        overlap[np.ix_(own, own)] += weight[k] / 20 * (1 + np.eye(4))
    face = count // 2
    made = Slice("T4", nodes, face, gradient, weight, overlap, np.zeros((3, face)), cells)
    # the two triangles of each cell of a face, at the middles of their sides: exact for squares
    places, areas = [], []
    side = 2 / cells
    for x, y in itertools.product(range(cells), repeat=2):
        base = np.array([x * side - 1, y * side - 1])
        for third in ([1, 0], [0, 1]):
            triangle = base + side * np.array([[0, 0], [1, 1], third])
            places += [(triangle[i] + triangle[(i + 1) % 3]) / 2 for i in range(3)]
            areas += [side * side / 6] * 3
    return _with_moments(made, np.array(places), np.array(areas))


def _tetrahedral_at(whole: Slice, point: Numbers) -> Numbers:
    nodes, corners = _tetrahedra_of_cells(whole.cells)
    best, least, where = np.zeros(4), -np.inf, corners[0]
    for own in corners:
        share = np.linalg.solve(np.c_[np.ones(4), nodes[own]].T, [1.0, *point])
        if share.min() > least:
            best, least, where = share, share.min(), own
    weights = np.zeros(len(nodes))
    weights[where] = best
    return weights


def _indices(nodes: Numbers, wanted: Numbers) -> npt.NDArray[np.int64]:
    """Which of `nodes` stand at the `wanted` places."""
    apart = np.abs(nodes[None] - wanted[:, None]).max(-1)
    return apart.argmin(1)


def _with_moments(made: Slice, places: Numbers, areas: Numbers) -> Slice:
    values = made.at(np.c_[places, -np.ones(len(places))])[:, : made.face]
    along = np.stack([np.ones(len(places)), places[:, 0], places[:, 1]])
    moments = np.einsum("kp,p,pa->ka", along, areas, values)
    return Slice(
        made.kind, made.nodes, made.face, made.gradient, made.weight, made.overlap, moments, made.cells
    )
