import { describe, expect, it } from 'vitest';

import { PointerFocus } from './pointer_focus';

const button = document.createElement('button');
document.body.append(button);

/** Gives the event to `take` while it is under way, when it has its target. */
function key<T>(type: string, name: string, take: (event: KeyboardEvent) => T): T {
  let result: T | undefined;
  button.addEventListener(type, (event) => (result = take(event as KeyboardEvent)), { once: true });
  button.dispatchEvent(new KeyboardEvent(type, { key: name, bubbles: true, cancelable: true }));
  return result!;
}

function presses(focus: PointerFocus, name = ' '): boolean {
  return key('keydown', name, (event) => focus.takesSpace(event));
}

/** Is the button kept from being pressed? */
function letsGo(focus: PointerFocus): boolean {
  return key('keyup', ' ', (event) => {
    focus.keyup(event);
    return event.defaultPrevented;
  });
}

describe('PointerFocus', () => {
  it('gives Space to the page after a click, and does not press the button as well', () => {
    const focus = new PointerFocus();
    focus.pointerdown();
    expect([presses(focus), letsGo(focus)]).toEqual([true, true]);
  });

  it('leaves Space to a button that the keyboard has reached', () => {
    const focus = new PointerFocus();
    expect([presses(focus), letsGo(focus)]).toEqual([false, false]);
    focus.pointerdown();
    presses(focus, 'Tab');
    expect([presses(focus), letsGo(focus)]).toEqual([false, false]);
  });

  it('has nothing to do with other keys', () => {
    const focus = new PointerFocus();
    focus.pointerdown();
    expect(presses(focus, 'd')).toBe(false);
    expect(presses(focus)).toBe(true);
  });
});
