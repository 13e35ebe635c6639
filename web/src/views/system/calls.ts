// The calls of a step as GET /runs/{run}/profile/calls sends them, and one of them in words.
import type { Arrays } from '../../data/safetensors';
import { categoryOf } from '../../draw/colours';
import { h } from '../../draw/dom';
import { themeOf } from '../../draw/theme';
import type { CallColumns, CallIndex } from './call_index';
import { swatch } from './shapes';
import { time } from './words';

/** By their numbers (OperatorKind of trainwarden/operator_calls.h). */
const KINDS = ['operator', 'backward', 'user', 'kernel', 'copy', 'unknown', 'python'];

export function callsIn(arrays: Arrays): CallColumns {
  const numbers = (name: string) => arrays.get(name).values();
  return {
    names: arrays.json<string[]>('names') ?? [], tracks: arrays.json<string[]>('tracks') ?? [],
    name: numbers('name'), track: numbers('track'), kind: numbers('kind'), depth: numbers('depth'),
    start: arrays.f64('start_ns'), duration: arrays.f64('duration_ns'),
    ...(arrays.has('sequence') ? { sequence: numbers('sequence') } : {}),
  };
}

export function kindName(kind: number): string {
  return KINDS[kind] ?? `kind ${kind}`;
}

/** The colours of the kinds that there are. */
export function kindLegend({ kind }: CallColumns, element: Element): (Node | string)[] {
  const theme = themeOf(element);
  const kinds = new Set<number>();
  for (let i = 0; i < kind.length; ++i) kinds.add(kind[i]!);
  return [...kinds].sort((a, b) => a - b).flatMap((each) => [swatch(theme.dark ? categoryOf(each).dark : categoryOf(each).light, false, theme.ground), `${kindName(each)}  `]);
}

export function callTable(index: CallIndex, call: number, go: (call: number) => void): HTMLElement {
  const { names, tracks, name, track, kind, depth, start, duration } = index.calls;
  const nameOf = (each: number) => names[name[each]!] ?? '';
  const link = (each: number | undefined) => (each === undefined ? undefined : h('button', { class: 'quiet', onclick: () => go(each) }, nameOf(each)));
  const partner = index.partner(call);
  const own = index.ownTime(call);
  const rows: [string, Node | string | undefined][] = [
    ['Kind', kindName(kind[call]!)],
    ['On', `${tracks[track[call]!] ?? track[call]}, depth ${depth[call]}`],
    ['Began', `${time(start[call]! / 1e6)} into the step`],
    ['Took', `${time(duration[call]! / 1e6)}, of which ${time(own / 1e6)} itself`],
    ['Called by', link(index.parent(call))],
    [kindName(kind[call]!) === 'backward' ? 'Its forward call' : 'Its backward call', link(partner)],
  ];
  return h('div', { 'data-call': call }, h('h3', { class: 'mono' }, nameOf(call)), h('dl', {}, ...rows.filter(([, what]) => what !== undefined).flatMap(([term, what]) => [h('dt', {}, term), h('dd', {}, what)])));
}
