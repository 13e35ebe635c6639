// The parts of a job's page, each made from the server's answer.
import { formatLink } from '../../data/link';
import { h, s, type Child } from '../../draw/dom';
import { age, bytes, count, duration } from '../../draw/numbers';
import { stateSign } from '../rule_states';
import type { FilesAnswer, JobAnswer, Transition } from './api';
import { hasEnded, stateMark, toneOf, wordOf } from './states';

export function card(title: string, ...content: Child[]): HTMLElement {
  return h('section', { class: 'panel', 'aria-label': title }, h('h2', {}, title), ...content);
}

type Pair = readonly [string, Child];

function pairs(...rows: (Pair | undefined | false)[]): HTMLElement {
  const there = rows.filter((row): row is Pair => row !== undefined && row !== false);
  return h('dl', {}, ...there.flatMap(([term, what]) => [h('dt', {}, term), h('dd', {}, what)]));
}

function table(heads: string[], rows: Child[][], numbers: readonly number[] = []): HTMLElement {
  const kind = (i: number) => (numbers.includes(i) ? 'number' : '');
  return h('table', { class: 'table' },
    h('thead', {}, h('tr', {}, ...heads.map((head, i) => h('th', { scope: 'col', class: kind(i) }, head)))),
    h('tbody', {}, ...rows.map((row) => h('tr', {}, ...row.map((cell, i) => h('td', { class: kind(i) }, cell))))));
}

const time = (unixMs: number) => h('time', { datetime: new Date(unixMs).toISOString(), title: new Date(unixMs).toLocaleString() }, age(unixMs));

const placeLink = (view: string, params: Record<string, string>) => formatLink({ run: null, view, step: null, params });

/** As a shell takes it. */
function shellLine(words: readonly string[]): string {
  return words.map((word) => (/^[\w./:=,+@%-]+$/.test(word) ? word : `'${word.replace(/'/g, `'\\''`)}'`)).join(' ');
}

/** How long each transition's state lasted; of the last until now, 0 when the job has ended with it. */
export function lastedMs(job: JobAnswer, nowMs: number): number[] {
  return job.transitions.map(({ unix_ms }, i) => {
    const end = job.transitions[i + 1]?.unix_ms ?? (hasEnded(job) ? unix_ms : nowMs);
    return Math.max(0, end - unix_ms);
  });
}

/** The job's life as a strip, each state as long as it lasted. */
function strip(job: JobAnswer, lasted: readonly number[]): Child {
  const all = lasted.reduce((sum, ms) => sum + ms, 0);
  if (all === 0) return undefined;
  let x = 0;
  const parts = job.transitions.map((transition, i) => {
    const width = (100 * lasted[i]!) / all;
    const part = s('rect', { class: `strip-${toneOf(transition.secondary_status)}`, x: x.toFixed(3), y: 0, width: width.toFixed(3), height: 10 },
      s('title', {}, `${wordOf(transition.secondary_status)}, ${duration(lasted[i]!)}`));
    x += width;
    return part;
  });
  return s('svg', { class: 'strip', viewBox: '0 0 100 10', preserveAspectRatio: 'none', 'aria-hidden': 'true' }, ...parts);
}

const MOST_TRANSITIONS = 40;

export function historyCard(job: JobAnswer, nowMs: number): HTMLElement {
  const lasted = lastedMs(job, nowMs);
  const row = (transition: Transition, i: number): Child[] => [
    h('time', { datetime: new Date(transition.unix_ms).toISOString() }, new Date(transition.unix_ms).toLocaleString()),
    stateMark(transition.secondary_status), lasted[i]! > 0 ? duration(lasted[i]!) : '', transition.message || transition.cause];
  const rows = job.transitions.map(row).reverse();
  return card('State', strip(job, lasted), table(['Since', 'State', 'For', 'Why'], rows.slice(0, MOST_TRANSITIONS), [2]),
    rows.length > MOST_TRANSITIONS && h('p', { class: 'muted' }, `and ${count(rows.length - MOST_TRANSITIONS)} before`));
}

export function factsCard(job: JobAnswer, hasRun: boolean): HTMLElement {
  const { resources, run } = job;
  const tasks = resources.nodes * resources.tasks_per_node;
  const needs = [
    `${count(tasks)} ${tasks === 1 ? 'process' : 'processes'}`,
    resources.nodes > 1 && `${count(resources.nodes)} nodes`,
    resources.cpus !== null && `${count(resources.cpus)} processors each`,
    resources.gpus !== null && `${count(resources.gpus)} GPUs a node`,
    resources.memory_bytes !== null && `${bytes(resources.memory_bytes)} a node`,
  ].filter(Boolean).join(', ');
  return card('Job',
    pairs(
      ['Run', hasRun ? h('a', { href: formatLink({ run: run.name, view: '', step: null, params: {} }) }, run.name) : h('span', { class: 'mono' }, run.path)],
      ['Submitted', time(job.submitted_unix_ms)],
      ['Has run for', duration(job.ran_ms)],
      ['May run for', duration(job.max_run_seconds * 1000)],
      job.attempt > 1 && ['Attempt', count(job.attempt)],
      job.exit !== null && ['Ended', job.exit.text],
      job.experiment !== null && ['Experiment', h('span', {}, h('a', { href: placeLink('experiments', { experiment: job.experiment }) }, job.experiment), job.trial && ` / ${job.trial}`)],
      job.component !== null && ['Lineage', h('a', { href: placeLink('lineage', { of: `component:${job.component}` }) }, 'what led to it, and what came of it')],
      ['Takes', needs],
      job.host !== '' && ['Submitted on', job.host],
      ['Works in', h('span', { class: 'mono' }, job.folder)],
    ),
    commandLine(job.program));
}

function commandLine(program: readonly string[]): HTMLElement {
  return h('pre', {}, shellLine(program));
}

export function parametersCard(job: JobAnswer): HTMLElement | undefined {
  const rows = Object.entries(job.hyperparameters);
  if (rows.length === 0) return undefined;
  return card('Hyper-parameters', table(['Name', 'Value'], rows.map(([name, value]) => [name, h('span', { class: 'mono' }, value)])));
}

/** A rule's verdict leads to the run, where the page shows that; its log opens below. */
export function rulesCard(job: JobAnswer, hasRun: boolean): HTMLElement | undefined {
  if (job.rules.length === 0) return undefined;
  const rows = job.rules.map(({ id, status, details, step, log }) => {
    const { sign, word, tone } = stateSign(status);
    const text = `${sign} ${word}`;
    const inRun = formatLink({ run: job.run.name, view: 'rules', step: null, params: { rule: id } });
    const hasLog = job.logs.some((one) => one.id === log);
    return [hasRun ? h('a', { href: inRun }, id) : id,
      h('span', { class: tone, title: details }, step === null ? text : `${text} at step ${step}`),
      hasLog && h('a', { href: placeLink('jobs', { job: job.name, log }), 'aria-label': `Log of ${id}` }, 'show')];
  });
  return card('Rules', table(['Rule', 'Verdict', 'Log'], rows));
}

export function filesCard(files: FilesAnswer | null, job: string, give: (name: string) => void): HTMLElement | undefined {
  if (!files) return undefined;
  const notes = files.not_listed.map((reason) => h('p', { class: 'muted' }, reason));
  if (files.count === 0) return card('Files', ...(notes.length > 0 ? notes : [h('p', { class: 'muted' }, 'No results and no checkpoints yet.')]));
  const rows = files.files.map(({ name, bytes: size, given }) => [h('span', { class: 'mono' }, name), bytes(size),
    given ? h('button', { class: 'quiet', onclick: () => give(name), 'aria-label': `Save ${name}` }, 'Save') : h('span', { class: 'muted', title: `trainwarden job fetch ${job} ${name}` }, 'too large')]);
  const left = files.count - files.files.length;
  return card('Files', h('div', { class: 'files' }, table(['File', 'Size', 'Here'], rows, [1])),
    left > 0 && h('p', { class: 'muted' }, `and ${count(left)} more`), ...notes,
    files.files.some(({ given }) => !given) && h('p', { class: 'muted' }, 'Large files, in a terminal: ', h('code', {}, `trainwarden job fetch ${job}`)));
}

export function specCard(job: JobAnswer): HTMLElement | undefined {
  if (job.spec === '') return undefined;
  const text = h('pre', { tabindex: 0, role: 'region', 'aria-label': 'Its text' });
  text.append(linesOf(job.spec.trimEnd()));
  return card('What was submitted', job.spec_file !== '' && h('p', { class: 'muted mono' }, job.spec_file), text);
}

/** Texts of several lines: h() shows ends of lines as signs. */
function linesOf(text: string): DocumentFragment {
  const lines = document.createDocumentFragment();
  lines.append(...text.split('\n').flatMap((line) => [...h('span', {}, line.replaceAll('\t', '    ')).childNodes, '\n']));
  return lines;
}
