// Flame graph: which frames of a tree are seen, how wide they are, and what a search finds. Pure arithmetic.
import type { FlameAnswer } from './api';

export interface FlameTree {
  names: readonly string[];
  parent: Int32Array;
  name: Int32Array;
  self: Float64Array;
  total: Float64Array;
  calls: Float64Array;
  /** Children of node i: places [first[i], first[i + 1]) of `children`, the widest first. */
  first: Int32Array;
  children: Int32Array;
}

export interface FlameFrame {
  node: number;
  depth: number;
  /** Shares of the width. */
  from: number;
  to: number;
}

/** Node 0 is the root, which the answer does not list: it stands for all of them. */
export function flameTree({ names, nodes }: FlameAnswer): FlameTree {
  const count = nodes.length + 1;
  const column = (at: 2 | 3 | 4) => Float64Array.from([0, ...nodes.map((node) => node[at])]);
  const tree = {
    names, parent: Int32Array.from([0, ...nodes.map(([parent]) => parent + 1)]), name: Int32Array.from([-1, ...nodes.map(([, name]) => name)]),
    self: column(2), total: column(3), calls: column(4), first: new Int32Array(count + 1), children: new Int32Array(nodes.length),
  };
  for (let i = 1; i < count; ++i) ++tree.first[tree.parent[i]! + 1]!;
  for (let i = 0; i < count; ++i) tree.first[i + 1]! += tree.first[i]!;
  const next = tree.first.slice();
  for (let i = 1; i < count; ++i) tree.children[next[tree.parent[i]!]!++] = i;
  for (let i = 0; i < count; ++i) tree.children.subarray(tree.first[i]!, tree.first[i + 1]!).sort((a, b) => tree.total[b]! - tree.total[a]! || a - b);
  for (const child of childrenOf(tree, 0)) tree.total[0]! += tree.total[child]!;
  return tree;
}

export function childrenOf(tree: FlameTree, node: number): Int32Array {
  return tree.children.subarray(tree.first[node]!, tree.first[node + 1]!);
}

/** From the root to the node. */
export function pathTo(tree: FlameTree, node: number): number[] {
  const path = [node];
  while (path[0] !== 0 && path.length < 100_000) path.unshift(tree.parent[path[0]!]!);
  return path;
}

/** The frames of a zoomed tree: those around it at full width above, those within it below, none narrower than `least`. */
export function layoutFlame(tree: FlameTree, zoom: number, least: number): FlameFrame[] {
  if (tree.parent.length < 2) return [];
  const path = pathTo(tree, zoom);
  const frames: FlameFrame[] = path.map((node, depth) => ({ node, depth, from: 0, to: 1 }));
  const whole = tree.total[zoom]! || 1;
  const open: FlameFrame[] = [frames.at(-1)!];
  while (open.length > 0) {
    const around = open.pop()!;
    let from = around.from;
    for (const node of childrenOf(tree, around.node)) {
      const to = Math.min(around.to, from + tree.total[node]! / whole);
      if (to - from < least) break; // the others are narrower still
      const frame = { node, depth: around.depth + 1, from, to };
      frames.push(frame);
      open.push(frame);
      from = to;
    }
  }
  return frames;
}

/** Nodes whose names hold the text, and the share of the zoomed node's time that is theirs, without counting one twice. */
export function searchFlame(tree: FlameTree, zoom: number, text: string): { names: ReadonlySet<number>; share: number } {
  const wanted = text.toLowerCase();
  const names = new Set(text === '' ? [] : tree.names.flatMap((name, i) => (name.toLowerCase().includes(wanted) ? [i] : [])));
  let sum = 0;
  const open = names.size > 0 ? [zoom] : [];
  while (open.length > 0) {
    const node = open.pop()!;
    if (node !== 0 && names.has(tree.name[node]!)) sum += tree.total[node]!;
    else open.push(...childrenOf(tree, node));
  }
  return { names, share: sum / (tree.total[zoom] || 1) };
}

export interface NamedTime {
  name: string;
  self: number;
  total: number;
}

/** What took most within a node, by name; a name within its own like counts once in the total. */
export function timesByName(tree: FlameTree, zoom: number, by: 'self' | 'total', most: number): NamedTime[] {
  const sums = new Map<number, NamedTime>();
  const open: [node: number, around: ReadonlySet<number>][] = [[zoom, new Set()]];
  while (open.length > 0) {
    const [node, around] = open.pop()!;
    const name = tree.name[node]!;
    let within = around;
    if (node !== 0 && tree.parent[node] !== 0) {
      const sum = sums.get(name) ?? { name: tree.names[name] ?? '', self: 0, total: 0 };
      sum.self += tree.self[node]!;
      if (!around.has(name)) {
        sum.total += tree.total[node]!;
        within = new Set(around).add(name);
      }
      sums.set(name, sum);
    }
    for (const child of childrenOf(tree, node)) open.push([child, within]);
  }
  return [...sums.values()].sort((a, b) => b[by] - a[by]).slice(0, most);
}
