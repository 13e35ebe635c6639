// Asks the training to stop or to save, after a question.
import { SourceError, type Source } from '../../data/source';
import { h, replace } from '../../draw/dom';

interface Asked {
  message: string;
}

interface Act {
  path: 'stop' | 'save';
  button: string;
  question: string;
  explains: string;
}

const ACTS: readonly Act[] = [
  { path: 'stop', button: 'Stop the training …', question: 'Stop this training?', explains: 'It ends at the end of its step, and nothing here starts it again.' },
  { path: 'save', button: 'Save now …', question: 'Save the training now?', explains: 'It writes a checkpoint and what its black box holds, if it can, and goes on.' },
];

/** Two buttons with a dialog each; `said` gets the result. */
export function actionButtons(source: Source, run: string, said: (text: string) => void): HTMLElement {
  const answer = h('span', { role: 'status' });
  const bar = h('span', { class: 'toolbar', 'data-actions': '' });
  const ask = (act: Act) => {
    const reason = h('input', { type: 'text', maxlength: 500, value: 'somebody asked for it on the page' });
    const dialog: HTMLDialogElement = h('dialog', { class: 'rule-confirm', 'aria-label': act.question },
      h('h2', {}, act.question), h('p', {}, act.explains), h('label', {}, 'Why', reason),
      h('div', { class: 'toolbar' },
        h('button', { class: 'primary', onclick: () => void send(act, reason.value.trim(), dialog) }, act.path === 'stop' ? 'Stop' : 'Save'),
        h('button', { onclick: () => dialog.close() }, 'Cancel')));
    dialog.addEventListener('close', () => dialog.remove());
    bar.append(dialog);
    dialog.showModal();
  };
  const send = async (act: Act, reason: string, dialog: HTMLDialogElement) => {
    dialog.close();
    let text: string;
    try {
      text = (await source.post<Asked>(`/runs/${run}/${act.path}`, reason === '' ? {} : { reason })).message;
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      text = error.message;
    }
    replace(answer, text);
    said(text);
  };
  replace(bar, ...ACTS.map((act) => h('button', { onclick: () => ask(act) }, act.button)), answer);
  return bar;
}
