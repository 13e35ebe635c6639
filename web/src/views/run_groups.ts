// Which overlaid runs belong together: by a label (hyper-parameters are labels), or by a part of their names.
import { compareValues, type Value } from './value_rows';

export interface LabelledRun {
  name: string;
  labels: Readonly<Record<string, string>>;
}

export interface RunGroup {
  name: string;
  runs: string[];
}

/** What runs can be grouped by; `word` is what the link says: "label:lr", "part:2". */
export interface GroupKey {
  word: string;
  title: string;
}

const MOST_PARTS = 8; // of a name
const EXAMPLES = 3;

/** "cnn" and "seed1" of "cnn-seed1": a point stays, it may be that of a number. */
export function partsOf(name: string): string[] {
  return name.split(/[-_/\s]+/).filter((part) => part !== '').slice(0, MOST_PARTS);
}

function valueOf({ name, labels }: LabelledRun, word: string): string | undefined {
  if (word.startsWith('label:')) return labels[word.slice('label:'.length)];
  return partsOf(name)[Number(word.slice('part:'.length)) - 1];
}

/**
 * Labels, then parts of names; only those in which some of the runs differ, what gives the fewest groups first. And `chosen`,
 * by which they may be one group.
 */
export function groupKeys(runs: readonly LabelledRun[], chosen?: string): GroupKey[] {
  const labels = new Set(runs.flatMap((run) => Object.keys(run.labels)));
  const longest = Math.max(0, ...runs.map(({ name }) => partsOf(name).length));
  const parts = Array.from({ length: longest }, (_, i) => `part:${i + 1}`);
  const words = [...telling([...labels].sort().map((label) => `label:${label}`), runs), ...telling(parts, runs)];
  return [...words, ...(isKnown(chosen, runs) && !words.includes(chosen) ? [chosen] : [])]
    .map((word) => ({ word, title: titleOf(word, runs) }));
}

function isKnown(word: string | undefined, runs: readonly LabelledRun[]): word is string {
  return word !== undefined && runs.some((run) => valueOf(run, word) !== undefined);
}

function telling(words: readonly string[], runs: readonly LabelledRun[]): string[] {
  const values = (word: string) => new Set(runs.map((run) => valueOf(run, word))).size;
  return words.map((word) => ({ word, count: values(word) })).filter(({ count }) => count > 1)
    .sort((a, b) => a.count - b.count).map(({ word }) => word);
}

function titleOf(word: string, runs: readonly LabelledRun[]): string {
  if (word.startsWith('label:')) return word.slice('label:'.length);
  const values = [...new Set(runs.map((run) => valueOf(run, word)))].filter((value) => value !== undefined);
  return `${word.replace('part:', 'name, part ')} (${values.slice(0, EXAMPLES).join(', ')}${values.length > EXAMPLES ? ', …' : ''})`;
}

/** By rising value; runs without one come last. Null: the word names nothing that any of them has. */
export function groupsOf(runs: readonly LabelledRun[], word: string | undefined): RunGroup[] | null {
  if (!isKnown(word, runs)) return null;
  const label = word.startsWith('label:') ? word.slice('label:'.length) : undefined;
  const byValue = new Map<string | undefined, string[]>();
  for (const run of runs) {
    const value = valueOf(run, word);
    byValue.set(value, [...(byValue.get(value) ?? []), run.name]);
  }
  const named = (value: string | undefined) => (value === undefined ? `no ${label ?? 'such part'}` : label === undefined ? value : `${label} ${value}`);
  return [...byValue].sort(([a], [b]) => compareValues(numeric(a), numeric(b), false)).map(([value, names]) => ({ name: named(value), runs: names }));
}

function numeric(text: string | undefined): Value {
  return text !== undefined && text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
}
