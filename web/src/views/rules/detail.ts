// One rule: its status and the reason, its verdicts with their evidence, and its history.
import type { EvidenceAnswer, RuleAnswer, VerdictAnswer } from '../../data/firings';
import { h } from '../../draw/dom';
import { exact, numberOf, short } from '../../draw/numbers';
import type { ViewContext } from '../view';
import { signOf } from './board';
import type { KindAnswer } from './parameters';
import { prose } from './prose';
import { stateSign } from '../rule_states';
import { severitySign } from './words';

/** A link within the page that a click follows without leaving it. */
export function place(text: string, href: string | undefined, go: () => void, properties: Record<string, string> = {}): HTMLElement {
  return h('a', {
    href: href ?? '#',
    ...properties,
    onclick: (event: MouseEvent) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      go();
    },
  }, text);
}

function evidenceRow(context: ViewContext, evidence: EvidenceAnswer): HTMLElement {
  const [value, threshold] = [numberOf(evidence.value), numberOf(evidence.threshold)];
  const target = { tensor: evidence.tensor };
  return h(
    'tr',
    {},
    h('td', {}, evidence.tensor === '' ? evidence.metric ?? '–' : place(evidence.tensor, context.link('tensors', target, evidence.step), () => context.open('tensors', target, evidence.step)),
      evidence.worker ? h('span', { class: 'muted' }, ` ${evidence.worker}`) : null),
    h('td', {}, h('code', {}, evidence.quantity)),
    h('td', { class: 'number', title: exact(value) }, short(value)),
    h('td', { class: 'number', title: exact(threshold) }, short(threshold)),
    h('td', { class: 'number' }, evidence.unix_ns !== undefined ? clockOf(evidence.unix_ns) : place(String(evidence.step), context.link('rules', {}, evidence.step), () => context.seek(evidence.step))),
  );
}

function evidenceTable(context: ViewContext, evidence: readonly EvidenceAnswer[]): HTMLElement | null {
  if (evidence.length === 0) return null;
  const ofTime = evidence.some((each) => each.metric !== undefined);
  const titles = [ofTime ? 'Metric' : 'Tensor', 'Quantity', 'Value', 'Threshold', ofTime ? 'Time' : 'Step'];
  return h(
    'table',
    { class: 'table', 'data-evidence': evidence.length },
    h('caption', { class: 'sr-only' }, 'Evidence'),
    h('thead', {}, h('tr', {}, ...titles.map((title, i) => h('th', { scope: 'col', class: i > 1 ? 'number' : undefined }, title)))),
    h('tbody', {}, ...evidence.map((each) => evidenceRow(context, each))),
  );
}

function clockOf(unixNs: number): string {
  return new Date(unixNs / 1e6).toLocaleTimeString();
}

function placeInWords(verdict: VerdictAnswer): string {
  if (verdict.to_unix_ns !== undefined) return timeOf(verdict.to_unix_ns) + (verdict.step < 0 ? '' : `, after step ${verdict.step}`);
  return verdict.mode === 'global' ? `step ${verdict.step}` : `step ${verdict.step} (${verdict.mode} ${verdict.mode_step})`;
}

export function verdictPart(context: ViewContext, rule: RuleAnswer, verdict: VerdictAnswer): HTMLElement {
  const { sign, word, tone } = severitySign(verdict.severity);
  const repeat = rule.repeats.find((each) => each.first_step === verdict.step);
  const extras = [
    verdict.confidence < 1 ? `${Math.round(100 * verdict.confidence)} % sure` : '',
    verdict.consequence_of ? `follows from ${verdict.consequence_of}` : '',
    verdict.muted ? 'muted' : '',
    repeat ? `and ${repeat.count} more up to step ${repeat.last_step}` : '',
  ].filter((text) => text !== '');
  return h(
    'div',
    { 'data-verdict': verdict.step },
    h('p', {}, h('strong', { class: tone }, h('span', { 'aria-hidden': 'true' }, `${sign} `), word),
      ` at ${placeInWords(verdict)}${extras.length > 0 ? `, ${extras.join(', ')}` : ''}`),
    h('p', { class: 'rule-message' }, verdict.message),
    verdict.advice !== '' && h('p', {}, verdict.advice),
    evidenceTable(context, verdict.evidence),
  );
}

export function verdictButtons(rule: RuleAnswer, chosen: VerdictAnswer | undefined, choose: (verdict: VerdictAnswer) => void): HTMLElement | null {
  if (rule.verdicts.length < 2) return null;
  const most = 60;
  const left = rule.verdict_count - Math.min(most, rule.verdicts.length);
  return h(
    'div',
    { class: 'rule-verdicts', role: 'group', 'aria-label': 'Verdicts' },
    ...rule.verdicts.slice(0, most).map((verdict) =>
      h('button', { 'aria-pressed': verdict === chosen ? 'true' : 'false', onclick: () => choose(verdict) }, `${severitySign(verdict.severity).sign} ${verdict.to_unix_ns === undefined ? verdict.step : clockOf(verdict.to_unix_ns)}`)),
    left > 0 && h('span', { class: 'muted' }, `and ${left} more`),
  );
}

function timeOf(unixNs: number): string {
  return new Date(unixNs / 1e6).toLocaleString();
}

export function history(rule: RuleAnswer): HTMLElement {
  const steps = Object.entries(rule.steps).filter(([, number]) => number > 0);
  return h(
    'section',
    {},
    h('h3', {}, 'How it came there'),
    h('ul', {}, ...rule.transitions.map((each) => h('li', {}, `${stateSign(each.state).word}, ${timeOf(each.unix_ns)}`))),
    steps.length > 0 && h('p', { class: 'muted' }, `Steps by answer: ${steps.map(([answer, number]) => `${answer.replace(/_/g, ' ')} ${number}`).join(', ')}. Journal ${rule.journal}.`),
  );
}

export function explanation(kind: KindAnswer): HTMLElement {
  return h('details', {}, h('summary', {}, 'What exactly it judges'), prose(kind.details), h('p', { class: 'muted' }, `Source: ${kind.source}`));
}

export function heading(rule: RuleAnswer, kind: KindAnswer | undefined): HTMLElement {
  return h('div', {}, h('h2', {}, rule.id, ' ', signOf(rule.state)), kind && h('p', {}, kind.summary), rule.details !== '' && h('p', { class: 'muted' }, rule.details));
}
