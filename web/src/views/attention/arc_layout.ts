// Where tokens and links are when the text is one line: a link is half an ellipse, above the line to the right and below
// it to the left; a token's link to itself is a small circle above it.
const CHARACTER_PX = 7.6; // of the monospaced face, 12 px
const PADDING_PX = 10;
const LEAST_PX = 24; // a target that a finger hits
const HIGHEST_PX = 190;
export const LINE_PX = 28;
const SELF_PX = 7;
const LOWEST_PX = 8;

export interface ArcLayout {
  /** The left edge of each token; the last is the end of the line. */
  edges: readonly number[];
  /** Of each half. */
  halfHeight: number;
}

export interface Arc {
  /** The middle of the ellipse, and its half axes. */
  x: number;
  y: number;
  across: number;
  up: number;
  /** Which half is drawn. */
  side: 'above' | 'below' | 'self';
}

export function layoutOf(texts: readonly string[]): ArcLayout {
  const edges = [0];
  for (const text of texts) edges.push(edges.at(-1)! + Math.max(LEAST_PX, [...text].length * CHARACTER_PX + PADDING_PX));
  return { edges, halfHeight: Math.max(48, Math.min(HIGHEST_PX, edges.at(-1)! / 4)) };
}

export function middleOf({ edges }: ArcLayout, token: number): number {
  return (edges[token]! + edges[token + 1]!) / 2;
}

export function heightOf(layout: ArcLayout): number {
  return 2 * layout.halfHeight + LINE_PX;
}

export function arcOf(layout: ArcLayout, query: number, key: number): Arc {
  const [from, to] = [middleOf(layout, query), middleOf(layout, key)];
  const top = layout.halfHeight;
  if (query === key) return { x: from, y: top - SELF_PX, across: SELF_PX, up: SELF_PX, side: 'self' };
  const across = Math.abs(to - from) / 2;
  const longest = layout.edges.at(-1)! / 2;
  const up = LOWEST_PX + (top - LOWEST_PX - 6) * Math.sqrt(across / longest); // longer ones are higher, and none is cut
  return { x: (from + to) / 2, y: key > query ? top : top + LINE_PX, across, up, side: key > query ? 'above' : 'below' };
}

/** As an SVG path. */
export function pathOf({ x, y, across, up, side }: Arc): string {
  const half = (sweep: 0 | 1): string => `A${across} ${up} 0 0 ${sweep} ${x + across} ${y}`;
  const start = `M${x - across} ${y}`;
  if (side === 'self') return `${start}${half(1)}A${across} ${up} 0 0 1 ${x - across} ${y}`;
  return start + half(side === 'above' ? 1 : 0);
}
