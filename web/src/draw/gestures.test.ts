import { expect, it, vi } from 'vitest';

import { listenToGestures } from './gestures';

function listened(plainWheel: boolean) {
  const element = document.createElement('div');
  const did: string[] = [];
  listenToGestures(element, plainWheel, { by: (factor) => did.push(`by ${factor}`), settled: () => did.push('settled'), reset: () => did.push('reset') });
  return { element, did };
}

const wheel = (deltaY: number, ctrlKey = false) => {
  const event = new WheelEvent('wheel', { deltaY, cancelable: true });
  Object.defineProperty(event, 'ctrlKey', { value: ctrlKey }); // happy-dom leaves it out
  return event;
};

it('zooms at once with each turn of the wheel, and says once that the hand rests', () => {
  vi.useFakeTimers();
  const { element, did } = listened(true);
  element.dispatchEvent(wheel(-100));
  element.dispatchEvent(wheel(100));
  expect(did).toEqual(['by 0.8', 'by 1.25']);
  vi.advanceTimersByTime(1000);
  expect(did).toEqual(['by 0.8', 'by 1.25', 'settled']);
  vi.useRealTimers();
});

it('leaves the wheel to the page where it scrolls, unless Ctrl is held', () => {
  const { element, did } = listened(false);
  const plain = wheel(-100);
  element.dispatchEvent(plain);
  expect([plain.defaultPrevented, did.length]).toEqual([false, 0]);
  element.dispatchEvent(wheel(-100, true));
  expect(did).toEqual(['by 0.8']);
  element.dispatchEvent(new MouseEvent('dblclick'));
  expect(did.at(-1)).toBe('reset');
});
