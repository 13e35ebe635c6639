// PointerFocus: whether what has the focus was clicked. Then Space plays, as the sheet of keys says: who clicked a button
// is done with it. A button that was reached by the keyboard is pressed by Space, as everywhere.

export class PointerFocus {
  private isByPointer = false;
  private isTaken = false; // the key that is down now has done what it does

  readonly pointerdown = (): void => {
    this.isByPointer = true;
  };

  /** Before the page's own keys. True: Space belongs to the page, not to the button with the focus. */
  takesSpace(event: KeyboardEvent): boolean {
    if (event.key !== ' ') {
      if (/^(Tab|Arrow|Home|End|Enter)/.test(event.key)) this.isByPointer = false;
      return false;
    }
    const button = event.target instanceof Element ? event.target.closest('button, a, summary') : null;
    this.isTaken = this.isByPointer && button !== null;
    return this.isTaken;
  }

  /** Buttons are pressed when Space is let go. */
  readonly keyup = (event: KeyboardEvent): void => {
    if (event.key === ' ' && this.isTaken) event.preventDefault();
    this.isTaken = false;
  };
}
