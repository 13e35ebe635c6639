// What was found, in sentences.
import { count, numberOf, short } from '../../draw/numbers';
import type { CompareAnswer, FieldAnswer, PartingAnswer } from './answer';

const MOST_NAMES = 6;

export function placeInWords(parting: NonNullable<CompareAnswer['parting']>): string {
  return parting.mode === 'global' ? `step ${parting.step}` : `step ${parting.step} (${parting.mode} ${parting.mode_step})`;
}

function percentOf(relative: number): string {
  if (!Number.isFinite(relative)) return 'beyond measure';
  return `${short(100 * relative, 3)} % of the largest magnitude`;
}

/** "4 against 4.5: 0.5 apart (11.1 % of the largest magnitude), 1 of 3 elements differ" */
export function differenceInWords(parting: PartingAnswer): string {
  const difference = numberOf(parting.difference);
  const where = parting.place >= 0 && parting.elements > 1 ? ` at element ${count(parting.place)}` : '';
  if (parting.form === 'dtype and shape' || parting.form === 'texts' || parting.quantity === 'hash' || parting.quantity === 'sums' || parting.quantity === 'histogram') {
    return parting.form === 'statistics' ? `their ${parting.quantity} differ: the same elements in another order, or a difference too small for the other numbers` : parting.quantity;
  }
  const quantity = parting.quantity === '' ? '' : `${parting.quantity} `;
  const apart = Number.isFinite(difference) ? `${short(difference)} apart (${percentOf(numberOf(parting.relative))})` : 'not both are finite or of one count';
  const elements = parting.elements > 1 ? `, ${count(parting.differing)} of ${count(parting.elements)} elements differ` : '';
  return `${quantity}${short(numberOf(parting.a))} against ${short(numberOf(parting.b))}${where}: ${apart}${elements}`;
}

/** Labels are what people set; how far a run came is none of its configuration. */
export function differencesInWords(fields: readonly FieldAnswer[]): string {
  const names = fields.filter(({ group, differs }) => group === 'label' && differs).map(({ name }) => name);
  if (names.length === 0) return fields.some(({ group }) => group === 'label') ? 'No hyper-parameter or label differs' : 'Neither run has hyper-parameters or labels';
  const shown = names.slice(0, MOST_NAMES).join(', ');
  return `What differs: ${shown}${names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : ''}`;
}

export function verdictInWords(answer: CompareAnswer): string {
  const [a, b] = [answer.a.name, answer.b.name];
  const tolerance = answer.tolerance > 0 ? ` within ${answer.tolerance}` : '';
  if (answer.common_steps === 0) return `${a} and ${b} have no step in common.`;
  if (answer.parting) {
    const first = answer.parting.tensors[0]!;
    const others = answer.parting.tensor_count - 1;
    return `${a} and ${b} part at ${placeInWords(answer.parting)}, first in ${first.tensor}${others > 0 ? ` and in ${others} more tensors` : ''}.`;
  }
  const compared = `${count(answer.compared_tensors)} tensors at ${count(answer.compared_steps)} steps`;
  if (answer.cut) return `The same${tolerance} so far: ${compared}, up to step ${answer.last_step}. Comparing …`;
  if (answer.compared_tensors === 0) return `${a} and ${b} have no tensor in common at a common step.`;
  return `${a} and ${b} are the same${tolerance}: ${compared}.`;
}
