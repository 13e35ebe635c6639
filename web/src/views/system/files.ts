// The view as files: tables of operators and of the machine, and a picture of the time line.
import { csvOf } from '../../draw/files';
import type { ProfileAnswer } from './api';

export function profileAsCsv(answer: ProfileAnswer): Blob {
  const known = (value: number | null | undefined): number | string => value ?? '';
  const rows: (string | number)[][] = [['table', 'name', 'of', 'unit', 'count', 'mean', 'min', 'p50', 'p95', 'p99', 'max', 'own_ms', 'total_ms', 'share']];
  for (const { worker, phases } of answer.workers) {
    for (const { phase, share, ms_per_step } of phases) rows.push(['phase', phase, worker, 'ms a step', '', known(ms_per_step), '', '', '', '', '', '', '', known(share)]);
  }
  for (const row of answer.usage) {
    rows.push(['machine', row.label, [row.instance, row.part].filter(Boolean).join(' '), row.unit, '', known(row.mean), known(row.min), known(row.p50), known(row.p95), known(row.p99), known(row.max), '', '', '']);
  }
  for (const [table, part] of [['operator', answer.operators], ['stack', answer.stacks]] as const) {
    for (const row of part?.rows ?? []) rows.push([table, row.name, row.kind, 'ms', row.calls, '', '', '', '', '', known(row.longest_ms), known(row.self_ms), known(row.total_ms), known(row.share)]);
  }
  for (const { rule, status, message } of answer.rules) rows.push(['rule', rule, status, '', '', '', '', '', '', '', '', '', '', message]);
  return csvOf(rows);
}
