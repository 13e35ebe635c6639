// Groups of runs as rows of a table: how many runs, how they stand, and the mean and the spread of each number.
import { compareValues, type Value } from '../views/value_rows';
import { groupKeys, groupsOf, type GroupKey, type LabelledRun } from '../views/run_groups';
import { lossIsLost, stateOf, type ValuedRun } from './run_rows';

export interface GroupCell {
  /** Of numbers: the mean of the finite ones, and their sample standard deviation where there are two. */
  mean?: number;
  deviation?: number;
  min?: number;
  max?: number;
  count: number;
  notFinite: number;
  /** Of texts: the one that all have, or how many there are. */
  text?: string;
}

export interface GroupRow {
  name: string;
  runs: ValuedRun[];
  /** "3 completed, 1 failed". */
  states: string;
  /** How many have lost their loss. */
  lost: number;
  cells: ReadonlyMap<string, GroupCell>;
}

function labelled(runs: readonly ValuedRun[]): LabelledRun[] {
  return runs.map(({ row }) => ({ name: row.name, labels: row.labels ?? {} }));
}

export function runGroupKeys(runs: readonly ValuedRun[], chosen?: string): GroupKey[] {
  return groupKeys(labelled(runs), chosen);
}

/** Null: nothing to group by. */
export function groupRows(runs: readonly ValuedRun[], word: string | undefined, columns: readonly string[]): GroupRow[] | null {
  const groups = groupsOf(labelled(runs), word);
  if (!groups) return null;
  const byName = new Map(runs.map((run) => [run.row.name, run]));
  return groups.map(({ name, runs: members }) => rowOf(name, members.map((member) => byName.get(member)!), columns));
}

function rowOf(name: string, runs: ValuedRun[], columns: readonly string[]): GroupRow {
  const states = new Map<string, number>();
  for (const { row } of runs) states.set(stateOf(row), (states.get(stateOf(row)) ?? 0) + 1);
  return {
    name, runs, states: [...states].map(([state, count]) => `${count} ${state}`).join(', '), lost: runs.filter(({ row }) => lossIsLost(row)).length,
    cells: new Map(columns.map((column) => [column, cellOf(runs.map(({ values }) => values.get(column)))])),
  };
}

export function cellOf(values: readonly Value[]): GroupCell {
  const there = values.filter((value) => value !== undefined);
  const numbers = there.filter((value) => typeof value === 'number');
  if (numbers.length < there.length) {
    const texts = new Set(there.map(String));
    return { count: there.length, notFinite: 0, text: texts.size === 1 ? [...texts][0]! : `${texts.size} different` };
  }
  const finite = numbers.filter(Number.isFinite);
  const rest = { count: finite.length, notFinite: numbers.length - finite.length };
  if (finite.length === 0) return rest;
  const mean = finite.reduce((sum, each) => sum + each, 0) / finite.length;
  const range = { mean, min: Math.min(...finite), max: Math.max(...finite) };
  if (finite.length === 1) return { ...rest, ...range };
  return { ...rest, ...range, deviation: Math.sqrt(finite.reduce((sum, each) => sum + (each - mean) ** 2, 0) / (finite.length - 1)) };
}

/** By a column's mean or text; by anything else as the groups stand. The smallest first, unless turned. */
export function orderedGroups(rows: readonly GroupRow[], by: string, turned: boolean): GroupRow[] {
  const valueOf = ({ cells }: GroupRow): Value => cells.get(by)?.mean ?? cells.get(by)?.text;
  if (!rows.some((row) => row.cells.has(by))) return [...rows];
  return [...rows].sort((a, b) => compareValues(valueOf(a), valueOf(b), turned));
}
