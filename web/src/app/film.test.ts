import { describe, expect, it, vi } from 'vitest';

import type { View } from '../views/view';
import { Film, filmSteps } from './film';

describe('filmSteps', () => {
  it('has the steps of the range', () => {
    expect(filmSteps([1, 5, 9, 12], 5, 11)).toEqual([5, 9]);
    expect(filmSteps([], 0, 9)).toEqual([]);
  });

  it('has some of too many, evenly, and always the last', () => {
    const steps = Array.from({ length: 1000 }, (_, i) => 3 * i);
    const chosen = filmSteps(steps, 0, 3000, 120);
    expect(chosen.length).toBeLessThanOrEqual(120);
    expect(chosen.length).toBeGreaterThan(100);
    expect(chosen.at(-1)).toBe(2997);
    expect(new Set(chosen.slice(1).map((step, i) => step - chosen[i]!)).size).toBe(1);
  });
});

describe('Film', () => {
  const element = document.createElement('section');
  const view = { snapshot: async () => undefined, update: () => undefined, destroy: () => undefined } as unknown as View;

  it('waits for each step, and says so when there is no picture of it', async () => {
    const sought: (number | null)[] = [];
    const film = new Film({ view, element, run: 'r', seek: (step) => void sought.push(step) }, 250);
    const made = film.make([3, 4], () => undefined, new AbortController().signal);
    await Promise.resolve();
    expect(sought).toEqual([3]);
    element.dataset['step'] = '3';
    await expect(made).rejects.toThrow('no picture to film');
    expect(sought).toEqual([3]);
  });

  it('ends when it is given up, and when a step never comes', async () => {
    delete element.dataset['step'];
    const giveUp = new AbortController();
    const film = new Film({ view, element, run: 'r', seek: () => undefined }, 250);
    const made = film.make([3], () => undefined, giveUp.signal);
    giveUp.abort(new Error('given up'));
    await expect(made).rejects.toThrow('given up');
    vi.useFakeTimers();
    const never = film.make([7], () => undefined, new AbortController().signal);
    const failure = expect(never).rejects.toThrow('Step 7 did not appear within 20 seconds');
    await vi.advanceTimersByTimeAsync(20_001);
    await failure;
    vi.useRealTimers();
  });
});
