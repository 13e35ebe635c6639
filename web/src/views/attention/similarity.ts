// Which heads look alike: groups of them, and an order in which neighbours are alike.

/** Pictures are compared in that many rows and columns. */
const SIDE = 16;

/** Heads of a group are on average so alike, from 0 to 1. */
export const ALIKE = 0.93;

export interface Grouping {
  /** All indices, the members of a group beside one another. */
  order: number[];
  /** The group of each index, counted in the order. */
  group: number[];
  groups: number;
}

/**
 * Of pictures one after another, bytes that are roots of weights, `size` rows and columns each: how alike two are is the
 * cosine of their bytes, for rows that sum to one the Bhattacharyya coefficient. Groups are joined by their average.
 */
export function groupedBySimilarity(pictures: Uint8Array, size: number, count: number): Grouping {
  return grouped(similarities(pictures, size, count), count);
}

/** [count, count] */
function similarities(pictures: Uint8Array, size: number, count: number): Float32Array {
  const vectors = Array.from({ length: count }, (_, i) => unit(pooled(pictures.subarray(i * size * size, (i + 1) * size * size), size)));
  const all = new Float32Array(count * count);
  for (let a = 0; a < count; a++) {
    for (let b = a + 1; b < count; b++) {
      const [left, right] = [vectors[a]!, vectors[b]!];
      let dot = 0;
      for (let i = 0; i < left.length; i++) dot += left[i]! * right[i]!;
      all[a * count + b] = all[b * count + a] = dot;
    }
  }
  return all;
}

function pooled(picture: Uint8Array, size: number): Float32Array {
  const side = Math.min(SIDE, size);
  const sums = new Float32Array(side * side);
  picture.forEach((byte, i) => {
    const [row, column] = [Math.floor(i / size), i % size];
    sums[Math.floor((row * side) / size) * side + Math.floor((column * side) / size)]! += byte;
  });
  return sums;
}

function unit(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector);
  return length > 0 ? vector.map((value) => value / length) : vector;
}

/** Joins the two most alike again and again; `alike` is overwritten. */
function grouped(alike: Float32Array, count: number): Grouping {
  const pairs = alike.slice();
  const members: (number[] | null)[] = Array.from({ length: count }, (_, i) => [i]);
  let formed: number[][] | null = null;
  for (let left = count; left > 1; left--) {
    const [a, b] = nearest(alike, members, count);
    if (alike[a * count + b]! < ALIKE) formed ??= members.flatMap((each) => (each ? [each] : []));
    const [sizeA, sizeB] = [members[a]!.length, members[b]!.length];
    members[a] = joined(members[a]!, members[b]!, (x, y) => pairs[x * count + y]!);
    members[b] = null;
    members.forEach((each, i) => {
      if (!each || i === a) return;
      const mean = (sizeA * alike[a * count + i]! + sizeB * alike[b * count + i]!) / (sizeA + sizeB);
      alike[a * count + i] = alike[i * count + a] = mean;
    });
  }
  const order = members.find((each) => each !== null) ?? [];
  return numbered(order, formed ?? [order]);
}

function nearest(alike: Float32Array, members: readonly (number[] | null)[], count: number): [number, number] {
  let best: [number, number] = [0, 0];
  let most = -Infinity;
  for (let a = 0; a < count; a++) {
    if (!members[a]) continue;
    for (let b = a + 1; b < count; b++) {
      if (!members[b] || alike[a * count + b]! <= most) continue;
      most = alike[a * count + b]!;
      best = [a, b];
    }
  }
  return best;
}

/** The two one after the other, each turned so that the ends that meet are alike. */
function joined(a: number[], b: number[], alike: (x: number, y: number) => number): number[] {
  const ways = [[a, b], [[...a].reverse(), b], [a, [...b].reverse()], [[...a].reverse(), [...b].reverse()]] as const;
  const fit = ([left, right]: (typeof ways)[number]): number => alike(left.at(-1)!, right[0]!);
  const best = ways.reduce((one, other) => (fit(other) > fit(one) ? other : one));
  return [...best[0], ...best[1]];
}

function numbered(order: number[], formed: readonly (readonly number[])[]): Grouping {
  const raw = new Map(formed.flatMap((members, i) => members.map((member) => [member, i] as const)));
  const numbers = new Map<number, number>();
  const group: number[] = [];
  for (const index of order) {
    const of = raw.get(index)!;
    if (!numbers.has(of)) numbers.set(of, numbers.size);
    group[index] = numbers.get(of)!;
  }
  return { order, group, groups: numbers.size };
}
