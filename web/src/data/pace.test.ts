import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { Pace } from './pace';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('acts at once, then once for all that is asked within the gap', () => {
  const act = vi.fn();
  const pace = new Pace(100, act);
  for (let i = 0; i < 5; ++i) pace.ask();
  expect(act).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(99);
  expect(act).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(2);
  expect(act).toHaveBeenCalledTimes(2);
  vi.advanceTimersByTime(1000);
  expect(act).toHaveBeenCalledTimes(2);
  pace.ask();
  expect(act).toHaveBeenCalledTimes(3);
});

it('does nothing more once it is stopped', () => {
  const act = vi.fn();
  const pace = new Pace(100, act);
  pace.ask();
  pace.ask();
  pace.stop();
  vi.advanceTimersByTime(1000);
  expect(act).toHaveBeenCalledTimes(1);
});
