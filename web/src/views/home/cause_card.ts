// Is it well, and if not, what happened first: from what rules found and from the loss, where no diagnosis says it.
import { byCause, isConsequence, type EvidenceAnswer, type RuleAnswer, type VerdictAnswer } from '../../data/firings';
import { h, type Child } from '../../draw/dom';
import { count, numberOf, short } from '../../draw/numbers';
import type { RunAnswer } from './api';
import { card } from './cards';
import type { LostLoss } from './losses_card';

const MOST_EVIDENCE = 3;

export interface Known {
  rules: readonly RuleAnswer[];
  lost: LostLoss | undefined;
}

/** Rules that found more than a note, causes before what follows from them. */
export function alarming(rules: readonly RuleAnswer[]): RuleAnswer[] {
  return rules.filter(({ state, severity, fired }) => state === 'IssuesFound' && severity !== 'info' && fired > 0).sort(byCause);
}

export function isWell({ rules, lost }: Known): boolean {
  return alarming(rules).length === 0 && lost === undefined;
}

export function causeCard(run: RunAnswer, known: Known, rulesLink: string | undefined): HTMLElement {
  const [cause, ...others] = alarming(known.rules);
  const verdict = cause?.verdicts.find(({ outcome }) => outcome === 'fired');
  if (cause && verdict) return card('What happened', ...ofRule(cause, verdict, others, rulesLink));
  if (known.lost) return card('What happened', ...ofLoss(run, known.lost));
  return card('Is it well?', ...quiet(run));
}

function ofRule(cause: RuleAnswer, verdict: VerdictAnswer, others: readonly RuleAnswer[], link: string | undefined): Child[] {
  const [following, beside] = [others.filter(isConsequence), others.filter((rule) => !isConsequence(rule))];
  const names = (rules: readonly RuleAnswer[]) => rules.map(({ id }) => id).join(', ');
  return [
    h('p', { class: 'diagnosis bad' }, `${sentence(verdict.message)} `, h('span', { class: 'muted' }, `${cause.id}, first ${verdict.step < 0 ? 'seen' : `at step ${count(verdict.step)}`}`)),
    verdict.evidence.length > 0 && h('ul', {}, ...verdict.evidence.slice(0, MOST_EVIDENCE).map((each) => h('li', {}, evidenceInWords(each)))),
    verdict.advice !== '' && h('p', {}, h('strong', {}, 'Next: '), sentence(verdict.advice)),
    following.length > 0 && h('p', {}, h('strong', {}, 'It explains: '), names(following)),
    beside.length > 0 && h('p', {}, h('strong', {}, 'Also found: '), names(beside)),
    link !== undefined && h('p', {}, h('a', { href: link }, 'All evidence')),
  ];
}

function ofLoss({ name, state }: RunAnswer, { label, last, step }: LostLoss): Child[] {
  return [
    h('p', { class: 'diagnosis bad' }, `${label} is ${short(last)}, not finite since step ${count(step)}.`),
    h('p', {}, h('strong', {}, 'Next: '), state === 'running' ? 'Stop the training: nothing of it can be used any more. What was lost first is found by' : 'Which tensor was lost first is found by'),
    h('pre', {}, `trainwarden check ${name}`),
  ];
}

function quiet({ rules, name }: RunAnswer): Child[] {
  const judged = rules.filter(({ status }) => status === 'NoIssuesFound' || status === 'InProgress').length;
  if (judged > 0) return [h('p', { class: 'good' }, `As far as is known: ${count(judged)} ${judged === 1 ? 'rule has' : 'rules have'} found nothing, and the loss is a number.`)];
  return [h('p', {}, 'Nobody knows: no rule has judged this run, and it was not examined. To find out:'), h('pre', {}, `trainwarden check ${name}`)];
}

function evidenceInWords({ tensor, metric, quantity, value, threshold, step, worker }: EvidenceAnswer): string {
  const what = `${tensor === '' ? (metric ?? '') : tensor}${worker ? ` of ${worker}` : ''}`;
  const limit = numberOf(threshold);
  return `${what}: ${quantity} ${short(numberOf(value))}${Number.isFinite(limit) ? `, the limit is ${short(limit)}` : ''}${step >= 0 ? ` (step ${count(step)})` : ''}`;
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
