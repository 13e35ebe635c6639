// Hint: a line of words beside the pointer, over a picture that it does not leave.
import { h, replace } from './dom';
import './hint.css';

export class Hint {
  private readonly element = h('div', { class: 'draw-hint', hidden: true, 'aria-hidden': 'true' });

  /** `parent` is positioned. */
  constructor(private readonly parent: HTMLElement) {
    parent.append(this.element);
  }

  /** In CSS pixels of the parent. */
  show(text: string, x: number, y: number): void {
    replace(this.element, text);
    this.element.hidden = false;
    const { offsetWidth, offsetHeight } = this.element;
    this.element.style.left = `${Math.max(0, Math.min(x + 12, this.parent.clientWidth - offsetWidth))}px`;
    this.element.style.top = `${y + 14 + offsetHeight > this.parent.clientHeight ? Math.max(0, y - offsetHeight - 8) : y + 14}px`;
  }

  hide(): void {
    this.element.hidden = true;
  }
}
