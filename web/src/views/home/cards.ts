// The parts of a run's home, each made from the server's answer.
import { h, type Child } from '../../draw/dom';
import { age, bytes, count, duration, short } from '../../draw/numbers';
import { stateSign } from '../rule_states';
import type { RunAnswer, RunLength } from './api';

export function card(title: string, ...content: Child[]): HTMLElement {
  return h('section', { class: 'panel', 'aria-label': title }, h('h2', {}, title), ...content);
}

function pairs(...rows: (readonly [string, Child] | undefined)[]): HTMLElement {
  return h('dl', {}, ...rows.filter((row) => row !== undefined).flatMap(([term, what]) => [h('dt', {}, term), h('dd', {}, what)]));
}

function table(heads: string[], rows: Child[][], numbers: readonly number[] = []): HTMLElement {
  const kind = (i: number) => (numbers.includes(i) ? 'number' : '');
  return h('table', { class: 'table' },
    h('thead', {}, h('tr', {}, ...heads.map((head, i) => h('th', { scope: 'col', class: kind(i) }, head)))),
    h('tbody', {}, ...rows.map((row) => h('tr', {}, ...row.map((cell, i) => h('td', { class: kind(i) }, cell))))));
}

const time = (unixMs: number) => h('time', { datetime: new Date(unixMs).toISOString(), title: new Date(unixMs).toLocaleString() }, age(unixMs));

export function progressCard(run: RunAnswer): HTMLElement {
  const { progress } = run;
  const wall = run.last_unix_ms > 0 && run.created_unix_ms > 0 ? duration(run.last_unix_ms - run.created_unix_ms) : undefined;
  const isWhole = progress.last_trained_step < progress.steps; // else steps were only counted: nothing of them was wanted
  return card('Progress',
    h('p', { class: 'big', 'data-test': 'steps' }, count(progress.steps), ' ',
      h('span', { class: 'muted' }, `${progress.steps === 1 ? 'step' : 'steps'}${isWhole ? '' : ' kept'}`)),
    pairs(
      ['State', run.secondary_status && run.secondary_status.toLowerCase() !== run.state ? `${run.state} (${run.secondary_status})` : run.state],
      ...lengthRows(progress.length, run.state === 'running'),
      isWhole ? undefined : ['Trained', `up to step ${count(progress.last_trained_step)}`],
      progress.steps_per_second === undefined ? undefined : ['Pace', `${short(progress.steps_per_second, 3)} steps a second`],
      ...progress.modes.map(({ mode, steps, last_mode_step }) => [`Steps of ${mode}`, `${count(steps)}, the last is ${count(last_mode_step)}`] as const),
      run.created_unix_ms > 0 ? ['Started', time(run.created_unix_ms)] : undefined,
      run.last_unix_ms > 0 ? ['Last step', time(run.last_unix_ms)] : undefined,
      wall === undefined ? undefined : [run.state === 'running' ? 'Running for' : 'Took', wall],
      ['Workers', workersText(run)],
      run.stop ? ['Asked to stop', `by ${run.stop.requested_by}: ${run.stop.reason}`] : undefined,
    ));
}

/** "rank-00000 (writing)"; that others are missing is said. */
function workersText({ workers, world_size: size }: RunAnswer): string {
  const names = workers.map(({ name, writing }) => (writing ? `${name} (writing)` : name)).join(', ');
  return workers.length === size ? names : `${count(workers.length)} of ${count(size)}: ${names}`;
}

type Row = readonly [string, Child];

/** What nobody has said is not made up. */
function lengthRows(length: RunLength | undefined, isRunning: boolean): Row[] {
  if (!length) return isRunning ? [['Time to go', h('span', { class: 'muted', title: 'A label total_steps, or epochs, says how long a run will be' }, 'not known: the run does not say how many steps it will take')]] : [];
  const { total_steps: total, done_steps: done, label, estimate, seconds_left: left } = length;
  const share = `${short((100 * done) / total, 3)} %`;
  const said = h('span', {}, `${count(done)} of ${estimate ? 'about ' : ''}${count(total)} (${share}) `, h('span', { class: 'muted' }, estimate ? `${label}, by the steps of those that are over` : label),
    h('progress', { max: total, value: done, 'aria-label': 'Steps done' }));
  return [['Of all steps', said], ...(left === undefined ? [] : [['Time to go', `about ${duration(Math.max(1, left) * 1000)}`] as const])];
}

/** `causes`: the rules that found something, in the order in which they are to stand. */
export function rulesCard(run: RunAnswer, causes: readonly{ id: string }[], link: string | undefined): HTMLElement {
  if (run.rules.length === 0) {
    return card('Rules', h('p', {}, 'No rule watches this run. To judge what it has recorded:'), h('pre', {}, `trainwarden check ${run.name}`));
  }
  const order = ['IssuesFound', 'Error'];
  const place = (id: string) => (causes.findIndex((rule) => rule.id === id) + causes.length + 1) % (causes.length + 1); // others come last
  const sorted = [...run.rules].sort((a, b) => Number(order.includes(b.status)) - Number(order.includes(a.status)) || place(a.id) - place(b.id));
  const rows = sorted.slice(0, 12).map(({ rule, status, details }) => {
    const { sign, word, tone } = stateSign(status);
    return [rule, h('span', { class: tone, title: details }, `${sign} ${word}`)];
  });
  return card('Rules', table(['Rule', 'Verdict'], rows), link && h('p', {}, h('a', { href: link }, run.rules.length > 12 ? `All ${run.rules.length} rules` : 'Evidence and what-if')));
}

export function capturedCard(run: RunAnswer, link: string | undefined): HTMLElement {
  const every = (steps: Record<string, number> | undefined) => {
    const intervals = new Set(Object.values(steps ?? {}));
    if (intervals.size === 1) return [...intervals].map((interval) => (interval === 1 ? 'step' : `${interval} steps`)).join();
    return Object.entries(steps ?? {}).map(([mode, interval]) => `${mode} ${interval}`).join(', ');
  };
  const rows = run.collections.map(({ name, tensors, keep, every: steps }) => [name, count(tensors), keep?.join(', ') ?? '', every(steps)]);
  return card('Captured',
    pairs(['Tensors', link ? h('a', { href: link }, count(run.tensors)) : count(run.tensors)], run.journal_bytes > 0 ? ['On disk', bytes(run.journal_bytes)] : undefined, ['Recorder', run.recorder]),
    rows.length > 0 && table(['Collection', 'Tensors', 'Form', 'Every'], rows, [1]));
}

export function costCard(run: RunAnswer): HTMLElement | undefined {
  if (run.bills.length === 0) return undefined;
  const percent = (share: number) => `${short(100 * share, 3)} %`;
  const rows = run.bills.map((bill) => [h('span', { class: 'whole' }, bill.worker), percent(bill.share), bill.budget > 0 ? percent(bill.budget) : 'none',
    [bill.interval_factor > 1 && `intervals ${bill.interval_factor} times as long`, bill.dropped.length > 0 && `without ${bill.dropped.join(', ')}`].filter(Boolean).join('; ')]);
  return card('What capture costs', table(['Worker', 'Of the time', 'Budget', 'Left out'], rows, [1, 2]));
}

export function missingCard(run: RunAnswer): HTMLElement | undefined {
  if (run.losses.length === 0) return undefined;
  const rows = run.losses.map(({ cause, count: times, bytes: size, where, by_writer }) => [cause, count(times), size > 0 ? bytes(size) : '', by_writer ? `${where} (never written)` : where]);
  return card('What is missing', table(['Cause', 'Count', 'Bytes', 'Where'], rows, [1, 2]));
}

export function checkpointsCard(run: RunAnswer): HTMLElement | undefined {
  if (run.checkpoints.length === 0) return undefined;
  const rows = run.checkpoints.map(({ state, step, worker, path, bytes: size, error, reason }) => [
    state, count(step), worker, state === 'refused' ? error : `${path}${size > 0 ? ` (${bytes(size)})` : ''}`, reason]);
  return card('Checkpoints on request', table(['State', 'After step', 'Worker', 'File', 'Why'], rows, [1]));
}

export function parametersCard(run: RunAnswer): HTMLElement | undefined {
  const labels = Object.entries(run.labels);
  return labels.length === 0 ? undefined : card('Parameters', pairs(...labels.map(([name, value]) => [name, value] as const)));
}

export function originCard(run: RunAnswer): HTMLElement {
  return card('Where it runs', pairs(run.framework === '' ? undefined : ['Trained with', run.framework], ['Host', run.host || 'unknown'], ['Id', h('span', { class: 'mono' }, run.run_id)]),
    run.command.length > 0 && h('pre', {}, run.command.map((word) => (/^[\w./=:,@%+-]+$/.test(word) ? word : `'${word.replace(/'/g, `'\\''`)}'`)).join(' ')));
}

export function historyCard(run: RunAnswer): HTMLElement | undefined {
  if (!run.transitions || run.transitions.length === 0) return undefined;
  const rows = run.transitions.map(({ status, start_unix_ms, end_unix_ms, message }) => [
    status, time(start_unix_ms), end_unix_ms === undefined ? '' : duration(end_unix_ms - start_unix_ms), message]);
  return card('How it got here', table(['Status', 'Since', 'For', 'Why'], rows));
}
