// Which values are columns of a table: a list of boxes that opens under a button.
import { h, replace } from '../draw/dom';

const MOST = 300; // boxes; more can be named in the link

export class ColumnChoice {
  readonly element: HTMLDetailsElement;
  private readonly boxes = h('fieldset', { 'aria-label': 'Columns' });
  private shown = '';

  /** `choose` gets the word of the link: "lr,loss", or "none". */
  constructor(private readonly choose: (word: string) => void) {
    this.element = h('details', { class: 'column-choice' }, h('summary', { class: 'button' }, 'Columns'), this.boxes);
    this.element.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || !this.element.open) return;
      this.element.open = false;
      this.element.querySelector('summary')!.focus();
      event.preventDefault();
    });
    this.element.addEventListener('focusout', (event) => {
      if (event.relatedTarget instanceof Node && !this.element.contains(event.relatedTarget)) this.element.open = false;
    });
  }

  show(names: readonly string[], chosen: readonly string[]): void {
    const all = [...chosen, ...names.filter((name) => !chosen.includes(name))].slice(0, MOST);
    const state = JSON.stringify([[...all].sort(), chosen]);
    this.element.hidden = all.length === 0;
    if (state === this.shown || (this.element.open && this.sameNames(all))) return;
    this.shown = state;
    replace(this.boxes, ...all.map((name) => h('label', {}, this.box(name, chosen.includes(name)), name)));
  }

  /** Boxes stay where they are while somebody ticks them. */
  private sameNames(all: readonly string[]): boolean {
    const now = [...this.boxes.querySelectorAll('input')].map(({ value }) => value);
    return now.length === all.length && all.every((name) => now.includes(name));
  }

  private box(name: string, checked: boolean): HTMLElement {
    return h('input', { type: 'checkbox', value: name, checked, onchange: () => {
      const ticked = [...this.boxes.querySelectorAll<HTMLInputElement>('input:checked')].map(({ value }) => value);
      this.choose(ticked.length === 0 ? 'none' : ticked.join(','));
    } });
  }
}
