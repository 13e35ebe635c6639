// The board as files: a table of all verdicts, and a picture of the strips.
import { firingsIn, type RuleAnswer } from '../../data/firings';
import { csvOf } from '../../draw/files';
import { numberOf } from '../../draw/numbers';
import { SvgWriter } from '../../draw/svg';
import { stripPlace, type StripRange } from './strip';
import { stateSign } from '../rule_states';
import { severitySign } from './words';

export function boardAsCsv(rules: readonly RuleAnswer[]): Blob {
  const rows: (string | number)[][] = [
    ['rule', 'state', 'fired', 'step', 'mode', 'mode_step', 'severity', 'message', 'tensor', 'quantity', 'value', 'threshold', 'evidence_step'],
  ];
  for (const rule of rules) {
    const head = [rule.id, rule.state, rule.fired];
    if (rule.verdicts.length === 0) rows.push(head);
    for (const verdict of rule.verdicts) {
      const said = [...head, verdict.step, verdict.mode, verdict.mode_step, verdict.severity, verdict.message];
      if (verdict.evidence.length === 0) rows.push(said);
      for (const each of verdict.evidence) {
        rows.push([...said, each.tensor, each.quantity, numberOf(each.value), numberOf(each.threshold), each.step]);
      }
    }
  }
  return csvOf(rows);
}

const ROW = 28;
const NAMES = 330;

export function boardAsSvg(run: string, rules: readonly RuleAnswer[], range: StripRange): SvgWriter {
  const svg = new SvgWriter(NAMES + 330, (rules.length + 2) * ROW, `Rules of ${run}`);
  svg.text(10, 20, `Rules of ${run}, steps ${range.first} to ${range.last}`, { 'font-weight': 'bold' });
  rules.forEach((rule, i) => {
    const y = (i + 1.6) * ROW;
    const { sign, word } = stateSign(rule.state);
    svg.text(10, y, `${sign} ${word}`).text(150, y, rule.id);
    svg.add('path', { d: `M${NAMES} ${y - 4}h300`, stroke: '#7b8794', fill: 'none' });
    for (const { step, severity } of firingsIn({ rules: [rule] })) {
      svg.text(NAMES + 300 * stripPlace(range, step) - 4, y, severitySign(severity).sign, { fill: severity === 'error' ? '#b3261e' : '#8a5a00' });
    }
  });
  return svg;
}
