// The other findings, and the rules that found nothing with their thresholds and the reason: folded.
import { h, type Child } from '../../draw/dom';
import { numberOf, short } from '../../draw/numbers';
import type { ViewContext } from '../view';
import type { Evidence, JudgedRule, ProfileAnswer } from './api';
import { gainInWords, knownGain, ruleLink } from './verdict_card';
import { counted, percent } from './words';
import { part } from './shapes';

const WORDS: Record<JudgedRule['status'], string> = {
  fired: 'fired', ok: 'found nothing', not_applicable: 'nothing to judge', insufficient_data: 'not enough data', error: 'failed',
};

/** What the verdict card does not say already. What another finding explains stands below it. */
export function otherFindings(answer: ProfileAnswer): JudgedRule[] {
  return answer.rules.filter(({ rule, status }) => status === 'fired' && rule !== answer.verdict.rule);
}

function finding(rule: JudgedRule, context: ViewContext): HTMLElement {
  const gain = knownGain(rule.gain);
  const facts = [gain ? gainInWords(gain) : '', rule.step_share === null ? '' : `${percent(rule.step_share)} of the step`].filter(Boolean).join(', ');
  return h('li', { class: rule.explained_by === null ? 'one-finding' : 'one-finding explained', 'data-finding': rule.rule },
    h('h3', {}, ruleLink(context, rule.rule), facts !== '' && h('span', { class: 'muted' }, ` ${facts}`)),
    h('p', {}, rule.message),
    rule.advice && h('p', {}, h('b', {}, 'Next: '), rule.advice),
    rule.explained_by !== null && h('p', { class: 'muted' }, `${rule.explained_by} explains it: mend that first.`),
    evidenceOf(rule.evidence, context));
}

const OWN = new Set(['step_share', 'gain', 'gain_min', 'gain_max']); // shown in words above

function evidenceOf(evidence: readonly Evidence[], context: ViewContext): HTMLElement | undefined {
  const told = evidence.filter(({ quantity }) => !OWN.has(quantity));
  if (told.length === 0) return undefined;
  const number = (value: Evidence['value']) => (Number.isFinite(numberOf(value)) ? short(numberOf(value)) : '');
  const at = (step: number | null | undefined): Child => (step === null || step === undefined || step < 0 ? '' : h('button', { class: 'quiet', onclick: () => context.seek(step) }, `step ${step}`));
  return h('details', {}, h('summary', {}, `Evidence (${told.length})`),
    h('table', { class: 'table' },
      h('thead', {}, h('tr', {}, ...['Quantity', 'Value', 'Threshold', 'Of', ''].map((head, i) => h('th', { scope: 'col', class: i === 1 || i === 2 ? 'number' : '' }, head)))),
      h('tbody', {}, ...told.map((each) => h('tr', {}, h('td', {}, h('code', {}, each.quantity)), h('td', { class: 'number' }, number(each.value)), h('td', { class: 'number' }, number(each.threshold)), h('td', {}, [each.metric, each.worker].filter(Boolean).join(' ')), h('td', {}, at(each.step)))))));
}

export function findingsPart(answer: ProfileAnswer, context: ViewContext): HTMLElement | undefined {
  const others = otherFindings(answer);
  if (others.length === 0) return undefined;
  return part('findings', others.length === 1 ? 'One more finding' : `${others.length} more findings`, h('ul', { class: 'findings' }, ...others.map((each) => finding(each, context))));
}

function quietRow(rule: JudgedRule, context: ViewContext): HTMLElement {
  const limits = Object.entries(rule.parameters).map(([name, value]) => `${name} = ${value}`).join(', ');
  return h('tr', { 'data-rule': rule.rule },
    h('th', { scope: 'row' }, ruleLink(context, rule.rule)),
    h('td', {}, WORDS[rule.status] ?? rule.status),
    h('td', {}, rule.message || rule.summary),
    h('td', { class: 'mono' }, limits));
}

/** Why the others did not fire. */
export function rulesPart(answer: ProfileAnswer, context: ViewContext): HTMLElement {
  const quiet = answer.rules.filter(({ status }) => status !== 'fired');
  if (answer.rules.length === 0) {
    return part('rules', 'Rules', h('p', {}, 'No rule of the profiler has judged this run. '), h('pre', {}, `trainwarden check ${answer.run.name} --rules profiler`));
  }
  const counts = (['ok', 'insufficient_data', 'not_applicable', 'error'] as const)
    .map((status) => [status, quiet.filter((rule) => rule.status === status).length] as const)
    .filter(([, many]) => many > 0)
    .map(([status, many]) => `${many} ${WORDS[status]}`);
  return part('rules', 'Rules that did not fire',
    quiet.length === 0 ? h('p', {}, 'All rules found something.') : h('details', {},
      h('summary', {}, `${counted(quiet.length, 'rule')}: ${counts.join(', ')}`),
      h('div', { class: 'wide', role: 'region', 'aria-label': 'Rules that did not fire', tabindex: 0 }, h('table', { class: 'table time-rules' },
        h('thead', {}, h('tr', {}, ...['Rule', 'Result', 'Why', 'Thresholds'].map((head) => h('th', { scope: 'col' }, head)))),
        h('tbody', {}, ...quiet.map((rule) => quietRow(rule, context)))))));
}
