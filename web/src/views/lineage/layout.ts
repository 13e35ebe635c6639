// Where the things of a lineage are drawn: a column for each distance from the start, what led to it on the left.
import type { Edge, Vertex } from './api';

export const BOX = { width: 190, height: 46 };
const GAP = { x: 70, y: 14 };

export interface Placed {
  vertex: Vertex;
  x: number;
  y: number;
}

export interface Layout {
  placed: Placed[];
  /** Those whose ends are both drawn. */
  edges: { edge: Edge; from: Placed; to: Placed }[];
  width: number;
  height: number;
  /** Things that are left out, the farthest first. */
  left: number;
}

/** At most `most` things, the nearest ones. */
export function layoutOf(vertices: readonly Vertex[], edges: readonly Edge[], most: number): Layout {
  const near = [...vertices].sort((a, b) => Math.abs(a.distance) - Math.abs(b.distance)).slice(0, most);
  const columns = new Map<number, Vertex[]>();
  for (const vertex of near) columns.set(vertex.distance, [...(columns.get(vertex.distance) ?? []), vertex]);
  const distances = [...columns.keys()].sort((a, b) => a - b);
  const tallest = Math.max(...[...columns.values()].map(({ length }) => length));
  const height = tallest * (BOX.height + GAP.y) - GAP.y;
  const places = new Map<string, Placed>();
  // From the start outwards: each thing stands near the middle of those that it hangs on.
  for (const distance of [...distances].sort((a, b) => Math.abs(a) - Math.abs(b))) {
    const column = ordered(columns.get(distance)!, edges, places);
    const top = (height - (column.length * (BOX.height + GAP.y) - GAP.y)) / 2;
    column.forEach((vertex, i) => places.set(vertex.node, {
      vertex, x: distances.indexOf(distance) * (BOX.width + GAP.x), y: top + i * (BOX.height + GAP.y),
    }));
  }
  return {
    placed: near.map(({ node }) => places.get(node)!),
    edges: edges.flatMap((edge) => {
      const [from, to] = [places.get(edge.source), places.get(edge.destination)];
      return from && to ? [{ edge, from, to }] : [];
    }),
    width: distances.length * (BOX.width + GAP.x) - GAP.x,
    height,
    left: vertices.length - near.length,
  };
}

function ordered(column: readonly Vertex[], edges: readonly Edge[], places: ReadonlyMap<string, Placed>): Vertex[] {
  const middle = (node: string) => {
    const heights = edges
      .map(({ source, destination }) => (source === node ? destination : destination === node ? source : undefined))
      .flatMap((other) => (other === undefined ? [] : [places.get(other)?.y]))
      .filter((y) => y !== undefined);
    return heights.length === 0 ? Infinity : heights.reduce((sum, y) => sum + y, 0) / heights.length;
  };
  const keyed = column.map((vertex) => ({ vertex, at: middle(vertex.node) }));
  return keyed.sort((a, b) => (a.at === b.at ? a.vertex.name.localeCompare(b.vertex.name, 'en', { numeric: true }) : a.at - b.at)).map(({ vertex }) => vertex);
}

/** From the edge of one box to that of another, as an SVG path; also within a column. */
export function edgePath(from: Placed, to: Placed): string {
  const y1 = from.y + BOX.height / 2;
  const y2 = to.y + BOX.height / 2;
  if (from.x === to.x) {
    const x = from.x + BOX.width;
    return `M${x} ${y1}C${x + GAP.x * 0.6} ${y1} ${x + GAP.x * 0.6} ${y2} ${x} ${y2}`;
  }
  const forward = to.x > from.x;
  const x1 = forward ? from.x + BOX.width : from.x;
  const x2 = forward ? to.x : to.x + BOX.width;
  const bend = (x2 - x1) / 2;
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
}
