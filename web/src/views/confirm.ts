// A question before something is done to a training, with the reason why.
import { h } from '../draw/dom';

export interface Question {
  title: string;
  explains: string;
  /** On the button that does it. */
  button: string;
}

/** Asks within `place`; `act` gets the reason, which may be empty. */
export function confirm(place: HTMLElement, question: Question, act: (reason: string) => void): void {
  const reason = h('input', { type: 'text', maxlength: 500, value: 'somebody asked for it on the page' });
  const yes = () => {
    dialog.close();
    act(reason.value.trim());
  };
  const dialog: HTMLDialogElement = h('dialog', { class: 'confirm', 'aria-label': question.title },
    h('h2', {}, question.title), h('p', {}, question.explains), h('label', {}, 'Why', reason),
    h('div', { class: 'toolbar' }, h('button', { class: 'primary', onclick: yes }, question.button), h('button', { onclick: () => dialog.close() }, 'Cancel')));
  dialog.addEventListener('close', () => dialog.remove());
  place.append(dialog);
  dialog.showModal();
}
