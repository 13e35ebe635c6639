// RunInView: the run that the page shows, followed while it is written.
import { loadFirings, type Firing } from '../data/firings';
import { idOf } from '../data/ids';
import { Pace } from '../data/pace';
import { SourceError, type Notice, type Source } from '../data/source';
import { numberOf } from '../draw/numbers';
import { StepRanges, type Range } from '../data/step_ranges';
import { asSourceError } from './page.svelte';

/** The time bar moves no more often than this; what a view shows does not wait for it. */
const STEPS_MS = 250;

/** GET /runs/{run}/steps. */
export interface StepsAnswer {
  steps: Range[];
  modes: { mode: string; steps: Range[]; mode_steps: Range[] }[];
  last_complete: number;
  state: string;
  /** The newest loss of a run that has ended. */
  loss?: { value: number | string } | null;
  /** How the program failed, though all was recorded: "exit code 1". */
  failure: string | null;
}

export interface ModeLine {
  mode: string;
  steps: StepRanges;
  modeSteps: StepRanges;
}

export class RunInView {
  readonly id: string;
  steps = $state.raw(new StepRanges([]));
  modes = $state.raw<ModeLine[]>([]);
  state = $state('');
  /** It has ended with a loss that is not finite. */
  lossIsLost = $state(false);
  /** Of the rules, without their notes. */
  firings = $state.raw<Firing[]>([]);
  problem = $state.raw<SourceError | null>(null);
  loaded = $state(false);
  /** Grows with each news. */
  news = $state(0);

  private asking = false;
  private askAgain = false;
  private firingsAreOld = true;
  private asked: Promise<Firing[]> | undefined; // until rules have news
  private readonly forget: () => void;
  private readonly steadily = new Pace(STEPS_MS, () => void this.ask());

  constructor(
    private readonly source: Source,
    readonly name: string,
  ) {
    this.id = idOf(name);
    this.forget = source.notices((notice) => this.receive(notice));
    void this.ask();
  }

  destroy(): void {
    this.forget();
    this.steadily.stop();
  }

  /** Of a global step: its mode and the step of that mode. */
  placeOf(step: number): { mode: string; modeStep: number } | null {
    for (const { mode, steps, modeSteps } of this.modes) {
      if (!steps.has(step)) continue;
      const modeStep = modeSteps.at(steps.rank(step) - 1);
      if (modeStep !== null) return { mode, modeStep };
    }
    return null;
  }

  private receive(notice: Notice): void {
    if (notice.run !== this.id && notice.run !== '') return;
    if (notice.kind !== 'steps') this.asked = undefined; // before the view hears of news
    ++this.news;
    if (notice.kind === 'steps') return this.steadily.ask();
    this.firingsAreOld = true;
    void this.ask();
  }

  /** One question at a time; news that come meanwhile make one more. */
  private async ask(): Promise<void> {
    if (this.asking) {
      this.askAgain = true;
      return;
    }
    this.asking = true;
    do {
      this.askAgain = false;
      try {
        this.take(await this.source.json<StepsAnswer>(`/runs/${this.id}/steps`));
        await this.askFirings();
      } catch (error) {
        this.problem = asSourceError(error);
      }
    } while (this.askAgain);
    this.asking = false;
  }

  /** Asked for once for the bar and the view. */
  allFirings(): Promise<Firing[]> {
    if (this.asked) return this.asked;
    const asked = loadFirings(this.source, this.id);
    asked.catch(() => this.asked === asked && (this.asked = undefined));
    return (this.asked = asked);
  }

  private async askFirings(): Promise<void> {
    if (!this.firingsAreOld) return;
    this.firingsAreOld = false;
    this.firings = (await this.allFirings()).filter(({ severity }) => severity !== 'info');
  }

  private take(answer: StepsAnswer): void {
    this.steps = new StepRanges(answer.steps);
    this.modes = answer.modes.map(({ mode, steps, mode_steps }) => ({
      mode,
      steps: new StepRanges(steps),
      modeSteps: new StepRanges(mode_steps),
    }));
    this.state = answer.failure ? 'failed' : answer.state;
    this.lossIsLost = answer.loss != null && !Number.isFinite(numberOf(answer.loss.value));
    this.problem = null;
    this.loaded = true;
  }
}
