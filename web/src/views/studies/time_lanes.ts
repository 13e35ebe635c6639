// Which trial stands in which lane of the timeline: lanes belong to workers, and no two trials of a lane overlap.
import type { TrialRow } from './api';

export interface Placed {
  row: TrialRow;
  fromMs: number;
  toMs: number;
  lane: number;
}

export interface TimeLanes {
  /** Of each lane who works in it. */
  names: string[];
  placed: Placed[];
}

/** Trials that have begun; one that runs reaches until now. */
export function timeLanes(rows: readonly TrialRow[], nowMs: number): TimeLanes {
  const begun = rows.filter(({ started_unix_ns }) => started_unix_ns > 0).map((row) => {
    const fromMs = row.started_unix_ns / 1e6;
    return { row, fromMs, toMs: Math.max(fromMs, row.ended_unix_ns > 0 ? row.ended_unix_ns / 1e6 : nowMs), lane: 0 };
  });
  begun.sort((a, b) => a.row.worker.localeCompare(b.row.worker, 'en', { numeric: true }) || a.fromMs - b.fromMs || a.row.number - b.row.number);
  const names: string[] = [];
  const ends: number[] = [];
  for (const trial of begun) {
    const free = ends.findIndex((end, lane) => names[lane] === trial.row.worker && end <= trial.fromMs);
    trial.lane = free < 0 ? names.push(trial.row.worker) - 1 : free;
    ends[trial.lane] = trial.toMs;
  }
  return { names, placed: begun };
}

const UNITS: readonly [unit: string, ms: number][] = [['d', 86_400_000], ['h', 3_600_000], ['min', 60_000], ['s', 1000], ['ms', 1]];

/** The unit in which so long a time is two or more. */
export function unitOfTime(spanMs: number): { unit: string; ms: number } {
  const [unit, ms] = UNITS.find(([, each]) => spanMs >= 2 * each) ?? ['ms', 1];
  return { unit, ms };
}
