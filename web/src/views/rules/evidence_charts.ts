// The chart of the chosen evidence, with the number's values over steps where the server has them.
import { loadCourse, type Course } from '../../data/course';
import type { EvidenceAnswer, RuleAnswer, VerdictAnswer } from '../../data/firings';
import { SourceError } from '../../data/source';
import { h, replace } from '../../draw/dom';
import { numberOf } from '../../draw/numbers';
import type { ViewContext } from '../view';
import { isSeriesNumber } from '../series';
import { evidenceChart } from './evidence_chart';

const BEFORE = 300; // steps that are shown around a firing
const AFTER = 100;

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

  /** The element with the chart of the verdict's first evidence that has a threshold; null when none has. */
  show(rule: RuleAnswer, verdict: VerdictAnswer): HTMLElement | null {
    const evidence = verdict.evidence.find((each) => Number.isFinite(numberOf(each.threshold)));
    if (!evidence) return null;
    const key = JSON.stringify([rule.id, rule.parameters, verdict.step, evidence, rule.verdicts.length]);
    if (key === this.shown) return this.place;
    this.shown = key;
    const ofVerdicts = courseOfVerdicts(rule, evidence);
    if (evidence.tensor === '' || !isSeriesNumber(evidence.quantity)) this.draw(evidence, ofVerdicts);
    else {
      this.draw(evidence, { steps: [], values: [] }, true); // a line from verdict to verdict is not the course
      void this.load(key, evidence, ofVerdicts);
    }
    return this.place;
  }

  destroy(): void {
    this.shown = '';
  }

  /** Of a quantity that a rule worked out the server has no values over steps: that of its verdicts is drawn. */
  private async load(key: string, evidence: EvidenceAnswer, ofVerdicts: Course): Promise<void> {
    let course = ofVerdicts;
    try {
      const found = await loadCourse(this.context.source, {
        run: this.context.run.id, tensor: evidence.tensor_id, of: evidence.quantity,
        from: Math.max(0, evidence.step - BEFORE), to: evidence.step + AFTER,
        ...(evidence.worker ? { worker: evidence.worker } : {}),
      });
      if (found.steps.length > ofVerdicts.steps.length) course = found;
    } catch (error) {
      if (!(error instanceof SourceError)) throw error; // the evidence alone is shown
    }
    if (this.shown === key) this.draw(evidence, course);
  }

  private draw(evidence: EvidenceAnswer, course: Course, reading = false): void {
    replace(this.place, evidenceChart({
      title: evidence.tensor, course, quantity: evidence.quantity, threshold: numberOf(evidence.threshold),
      firedAt: evidence.step, value: numberOf(evidence.value), reading,
    }));
  }
}
