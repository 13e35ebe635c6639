// Comparison: which step of which run the link's word "b" means, where attention is concerned.
import { parseOther } from '../../data/link';
import { idOf } from '../../data/ids';
import type { Source } from '../../data/source';
import { StepRanges } from '../../data/step_ranges';
import { count } from '../../draw/numbers';

import { Addresses, type StepListing } from './api';
import type { OtherMoment } from './pane';

export class Comparison {
  /** Of other runs by name; null: still to come, or there are none. */
  private readonly steps = new Map<string, StepRanges | null>();

  constructor(
    private readonly source: Source, private readonly own: Addresses,
    /** The steps of another run have come. */
    private readonly arrived: () => void, private readonly failed: (error: unknown) => void,
  ) {}

  /** null: nothing is to be compared, or it is not known yet. */
  of(word: string | undefined, ownSteps: StepRanges): OtherMoment | null {
    const other = parseOther(word);
    if (!other) return null;
    const steps = other.run === null ? ownSteps : this.stepsOf(other.run);
    const step = other.step === null ? steps?.last : steps?.atOrBefore(other.step);
    if (step === null || step === undefined) return null;
    const where = other.run === null ? '' : ` of ${other.run}`;
    return { addresses: other.run === null ? this.own : new Addresses(idOf(other.run)), step, name: `step ${count(step)}${where}` };
  }

  private stepsOf(run: string): StepRanges | null {
    const known = this.steps.get(run);
    if (known !== undefined) return known;
    this.steps.set(run, null);
    const { path, parameters } = new Addresses(idOf(run)).steps();
    this.source.json<StepListing>(path, parameters).then((answer) => {
      this.steps.set(run, new StepRanges(answer.steps));
      this.arrived();
    }, this.failed);
    return null;
  }
}
