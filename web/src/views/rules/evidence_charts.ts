// The chart of the evidence that is chosen. Where the number's course was kept it is drawn, else the evidence alone.
import type { EvidenceAnswer, RuleAnswer, VerdictAnswer } from '../../data/firings';
import { h, replace } from '../../draw/dom';
import { numberOf } from '../../draw/numbers';
import type { ViewContext } from '../view';
import { evidenceChart, type Course } from './evidence_chart';

/** The same quantity of the same tensor in all verdicts of the rule. */
export function courseOfVerdicts(rule: RuleAnswer, evidence: EvidenceAnswer): Course {
  const points = new Map<number, number>();
  for (const verdict of rule.verdicts) {
    for (const each of verdict.evidence) {
      const same = each.tensor === evidence.tensor && each.quantity === evidence.quantity && each.worker === evidence.worker;
      if (same) points.set(each.step, numberOf(each.value));
    }
  }
  const steps = [...points.keys()].sort((a, b) => a - b);
  return { steps, values: steps.map((step) => points.get(step)!) };
}

export class EvidenceCharts {
  private readonly place = h('div', { 'data-chart': '' });
  private shown = '';

  constructor(private readonly context: ViewContext) {}

  /** The element with the chart of the verdict's first evidence. */
  show(rule: RuleAnswer, verdict: VerdictAnswer): HTMLElement | null {
    const evidence = verdict.evidence.find((each) => Number.isFinite(numberOf(each.threshold)));
    if (!evidence) return null;
    const key = JSON.stringify([rule.id, verdict.step, evidence, rule.verdicts.length]);
    if (key === this.shown) return this.place;
    this.shown = key;
    this.draw(evidence, courseOfVerdicts(rule, evidence));
    return this.place;
  }

  destroy(): void {
    this.shown = '';
    void this.context;
  }

  private draw(evidence: EvidenceAnswer, course: Course): void {
    replace(this.place, evidenceChart({
      title: evidence.tensor, course, quantity: evidence.quantity, threshold: numberOf(evidence.threshold), firedAt: evidence.step,
    }));
  }
}
