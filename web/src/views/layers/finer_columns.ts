// FinerColumns: where a map is zoomed, the columns of the whole run make way for finer ones of the stretch that is seen.
import type { LayerMap, LayerQuestion, OddCell } from './api';
import { type StepStretch, windowOf } from './map_window';

export interface StretchQuestion extends LayerQuestion {
  from: number;
  to: number;
}

type Ask = (question: StretchQuestion, signal: AbortSignal) => Promise<LayerMap>;

const UNREAD_MS = 20; // until what is left is asked for

/** The steps to ask for: those seen and half as many on either side, in whole columns. Undefined: no column has more than one. */
export function stretchToRefine(map: LayerMap, seen: StepStretch): { from: number; to: number } | undefined {
  const columns = map.firstStep.length;
  if (columns === 0 || (seen.from === undefined && seen.to === undefined)) return undefined;
  const { start, end } = windowOf(map, seen);
  const beside = Math.ceil((end - start) / 2);
  const first = Math.max(0, start - beside);
  const last = Math.min(columns, end + beside) - 1;
  if (2 * (last + 1 - first) > columns || !map.steps.slice(first, last + 1).some((steps) => steps > 1)) return undefined;
  return { from: map.firstStep[first]!, to: map.lastStep[last]! };
}

/** The map with the columns of `finer` in place of its own; as it was where it has a column that is only partly in there. */
export function spliced(map: LayerMap, finer: LayerMap): LayerMap {
  const inner = finer.firstStep.length;
  const isOther = map.layers.length !== finer.layers.length || map.layers.some(({ id }, row) => id !== finer.layers[row]!.id);
  if (inner === 0 || isOther) return map;
  const from = finer.firstStep[0]!;
  const to = finer.lastStep[inner - 1]!;
  const before = map.lastStep.filter((last) => last < from).length;
  const behind = map.firstStep.filter((first) => first > to).length;
  const columns = map.firstStep.length;
  const replaced = map.firstStep.subarray(before, columns - behind);
  if (replaced.length === 0 || replaced[0]! < from || map.lastStep[columns - behind - 1]! > to) return map;

  const total = before + inner + behind;
  const join = (coarse: Float64Array, fine: Float64Array, rows: number) => {
    const joined = new Float64Array(rows * total);
    for (let row = 0; row < rows; row++) {
      joined.set(coarse.subarray(row * columns, row * columns + before), row * total);
      joined.set(fine.subarray(row * inner, (row + 1) * inner), row * total + before);
      joined.set(coarse.subarray((row + 1) * columns - behind, (row + 1) * columns), (row + 1) * total - behind);
    }
    return joined;
  };
  const odd: [number, OddCell][] = [];
  map.odd.forEach((cell, at) => {
    const column = at % columns;
    const row = Math.floor(at / columns);
    if (column < before) odd.push([row * total + column, cell]);
    if (column >= columns - behind) odd.push([(row + 1) * total - (columns - column), cell]);
  });
  finer.odd.forEach((cell, at) => odd.push([Math.floor(at / inner) * total + before + (at % inner), cell]));
  const ofColumns = (key: 'firstStep' | 'lastStep' | 'steps' | 'read') => join(map[key], finer[key], 1);
  const ofCells = (key: 'max' | 'maxStep') => join(map[key], finer[key], map.layers.length);
  return {
    ...map,
    firstStep: ofColumns('firstStep'), lastStep: ofColumns('lastStep'), steps: ofColumns('steps'), read: ofColumns('read'),
    max: ofCells('max'), maxStep: ofCells('maxStep'), odd: new Map(odd.sort(([a], [b]) => a - b)),
  };
}

export class FinerColumns {
  private finer: LayerMap | null = null;
  private last: { map: LayerMap; finer: LayerMap; joined: LayerMap } | undefined; // a map is drawn more often than it changes
  private asked = '';
  private asking: AbortController | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly ask: Ask,
    private readonly changed: () => void,
  ) {}

  /** The map with the finer columns that are there; asks for those that are not. */
  into(map: LayerMap, question: LayerQuestion, seen: StepStretch): LayerMap {
    const stretch = stretchToRefine(map, seen);
    const wanted = stretch && { ...question, ...stretch };
    const key = JSON.stringify(wanted) ?? '';
    if (key !== this.asked) {
      this.stop();
      this.asked = key;
      if (wanted) void this.look(wanted);
    }
    if (!this.finer) return map;
    if (this.last?.map !== map || this.last.finer !== this.finer) this.last = { map, finer: this.finer, joined: spliced(map, this.finer) };
    return this.last.joined;
  }

  stop(): void {
    clearTimeout(this.timer);
    this.asking?.abort();
    this.finer = null;
    this.last = undefined;
    this.asked = '';
  }

  private async look(question: StretchQuestion): Promise<void> {
    const asking = (this.asking = new AbortController());
    try {
      this.finer = await this.ask(question, asking.signal);
      if (this.finer.about.left > 0) this.timer = setTimeout(() => void this.look(question), UNREAD_MS);
      this.changed();
    } catch {
      // The columns of the whole run are right as well, and whoever asks for them tells what is wrong. A saved page has no others.
    }
  }
}
