// A lineage as a picture: a box for each thing, which is a link; lines lead from what went in to what came out.
import { formatLink } from '../../data/link';
import { shortened, shown } from '../../data/text';
import { h, s } from '../../draw/dom';
import type { LineageAnswer, Vertex } from './api';
import { BOX, edgePath, layoutOf, type Placed } from './layout';

const MOST_DRAWN = 300;
const LETTERS = 24;
const EDGE = 12; // around the picture

/** A job's page, else the lineage of the thing itself. */
export function linkOf(vertex: Vertex): string {
  return vertex.job === null ? linkToLineage(vertex.node) : formatLink({ run: null, view: 'jobs', step: null, params: { job: vertex.job } });
}

export function linkToLineage(of: string): string {
  return formatLink({ run: null, view: 'lineage', step: null, params: { of } });
}

/** What kind of thing it is, for people: "DataSet", "job", "trial". */
export function kindOf(vertex: Vertex): string {
  if (vertex.kind === 'trial-component') return vertex.job === null ? 'component' : 'job';
  return vertex.kind === 'trial' ? 'trial' : vertex.type || 'artifact';
}

/** Of an address the last part says most. */
export function titleOf(vertex: Vertex): string {
  if (vertex.job !== null) return vertex.job;
  const last = vertex.name.replace(/\/+$/, '').split('/').at(-1);
  return vertex.kind === 'artifact' && last ? last : vertex.name;
}

function box({ vertex, x, y }: Placed, start: string): SVGElement {
  const whole = `${kindOf(vertex)} ${vertex.name}${vertex.kind === 'trial-component' && vertex.type ? ` (${vertex.type})` : ''}`;
  const tone = vertex.kind === 'trial-component' ? 'work' : vertex.kind === 'trial' ? 'trial' : 'thing';
  const standing = vertex.kind === 'trial-component' && vertex.type ? ` · ${vertex.type}` : '';
  return s('a', { href: linkOf(vertex), class: `${tone}${vertex.node === start ? ' start' : ''}`, 'data-node': vertex.node },
    s('title', {}, whole),
    s('rect', { x, y, width: BOX.width, height: BOX.height, rx: 7 }),
    s('text', { x: x + 11, y: y + 18, class: 'kind' }, shortened(kindOf(vertex) + standing, LETTERS)),
    s('text', { x: x + 11, y: y + 36 }, shortened(shown(titleOf(vertex)), LETTERS)));
}

/** With how many things are left out. */
export function graph(answer: LineageAnswer): { picture: HTMLElement; left: number } {
  const layout = layoutOf(answer.vertices, answer.edges, MOST_DRAWN);
  const [width, height] = [layout.width + 2 * EDGE, layout.height + 2 * EDGE];
  const lines = layout.edges.map(({ edge, from, to }) => s('path', { class: 'edge', d: edgePath(from, to), 'marker-end': 'url(#lineage-arrow)' }, s('title', {}, edge.type)));
  const arrow = s('marker', { id: 'lineage-arrow', viewBox: '0 0 10 10', refX: 9, refY: 5, markerWidth: 7, markerHeight: 7, orient: 'auto' }, s('path', { d: 'M0 1L9 5L0 9z' }));
  const picture = s('svg', { width, height, viewBox: `${-EDGE} ${-EDGE} ${width} ${height}`, role: 'group', 'aria-label': 'What led to what' },
    s('defs', {}, arrow), ...lines, ...layout.placed.map((placed) => box(placed, answer.start)));
  return { picture: h('div', { class: 'lineage-graph panel', role: 'region', 'aria-label': 'Picture of the lineage', tabindex: 0 }, picture), left: layout.left };
}
