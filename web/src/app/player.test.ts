import { expect, it, vi } from 'vitest';

import { StepRanges } from '../data/step_ranges';
import { Player } from './player';

it('plays to the end, from the beginning when it is there already, and round when it may', () => {
  vi.useFakeTimers();
  try {
    const steps = new StepRanges([[0, 5, 4]]);
    const shown: number[] = [];
    let step = 15;
    const ended = vi.fn();
    const player = new Player(() => ({ step, steps }), (to) => shown.push((step = to)), ended);
    player.start();
    vi.advanceTimersByTime(2000);
    expect(shown).toEqual([0, 5, 10, 15]);
    expect(ended).toHaveBeenCalledOnce();

    player.loop = true;
    player.speed = 16;
    player.start();
    vi.advanceTimersByTime(1000 / 64 + 5 * (1000 / 64) + 1);
    player.stop();
    vi.advanceTimersByTime(5000);
    expect(shown.slice(4)).toEqual([0, 5, 10, 15, 0, 5, 10]);
  } finally {
    vi.useRealTimers();
  }
});

it('waits for steps that are not known yet', () => {
  vi.useFakeTimers();
  try {
    let steps = new StepRanges([]);
    let step = 0;
    const ended = vi.fn();
    const player = new Player(() => ({ step, steps }), (to) => (step = to), ended);
    player.start();
    vi.advanceTimersByTime(1000);
    expect(ended).not.toHaveBeenCalled();
    steps = new StepRanges([[0, 1, 3]]);
    vi.advanceTimersByTime(2000);
    expect(step).toBe(2);
    expect(ended).toHaveBeenCalledOnce();
  } finally {
    vi.useRealTimers();
  }
});
