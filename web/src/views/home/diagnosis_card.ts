// The diagnosis: one sentence, its evidence, the next step; and what else it may be.
import { h, type Child } from '../../draw/dom';
import { count } from '../../draw/numbers';
import type { DiagnosisAnswer, Finding } from './api';
import { card } from './cards';

const MAX_OTHERS = 2;

const percent = (finding: Finding) => `${(100 * finding.confidence).toFixed(0)} % sure`;
const sentence = ({ statement, place }: Finding) => `${statement}${place ? ` (${place})` : ''}.`;

const doubted = (doubt: string) => h('p', { class: 'bad' }, `Something may be wrong: ${doubt}.`);

/** Has it something to say of what is wrong? */
export function isDiagnosed({ diagnosis, failure }: DiagnosisAnswer): boolean {
  return diagnosis !== null || failure !== null;
}

/** Nothing for a training that was not examined and did not fail. `isWell`: nothing else says that something is wrong. */
export function diagnosisCard(answer: DiagnosisAnswer, isWell: boolean): HTMLElement | undefined {
  const { diagnosis, findings } = answer;
  if (answer.examined_steps === 0 && !isDiagnosed(answer)) return undefined;
  const others = findings.slice(diagnosis ? 1 : 0).slice(0, MAX_OTHERS).map((other) => h('li', {}, `${sentence(other)} `, h('span', { class: 'muted' }, percent(other))));
  const content: Child[] = diagnosis ? whole(diagnosis) : [noCause(answer, isWell)];
  const { apart } = answer;
  if (others.length > 0) content.push(h('h3', {}, diagnosis ? 'Or' : 'Perhaps'), h('ul', {}, ...others), apart !== '' && h('p', {}, h('strong', {}, 'To tell the first two apart: '), apart));
  return card('Diagnosis', ...content);
}

function noCause({ failure, doubt, examined_steps: examined, steps }: DiagnosisAnswer, isWell: boolean): Child {
  if (!failure && doubt !== '') return doubted(doubt);
  const looked = `${count(examined)} of ${count(steps)} train steps`;
  if (!failure && !isWell) return h('p', {}, `The ${looked} that were examined do not show why.`);
  if (!failure) return h('p', { class: 'good' }, `Nothing is wrong as far as ${looked} show that were examined.`);
  const why = examined === 0 ? 'It was not examined, so no cause can be named.' : `The ${looked} that were examined do not show why.`;
  return h('p', {}, h('span', { class: 'bad' }, `The training failed: ${failure}.`), ` ${why} Read the last lines that the program printed.`);
}

function whole(finding: Finding): Child[] {
  const lines = [...finding.evidence.map((line) => h('li', {}, line)), ...finding.against.map((line) => h('li', { class: 'muted' }, `against it: ${line}`))];
  return [
    h('p', { class: 'diagnosis bad' }, sentence(finding), ' ', h('span', { class: 'muted' }, percent(finding))),
    h('ul', {}, ...lines),
    finding.next_step !== '' && h('p', {}, h('strong', {}, 'Next: '), finding.next_step),
  ];
}
