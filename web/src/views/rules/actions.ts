// Asks the training to stop or to save, after a question.
import { SourceError, type Source } from '../../data/source';
import { h, replace } from '../../draw/dom';
import { confirm, type Question } from '../confirm';

interface Asked {
  message: string;
}

interface Act extends Question {
  path: 'stop' | 'save';
  opens: string;
}

const ACTS: readonly Act[] = [
  { path: 'stop', opens: 'Stop the training …', button: 'Stop', title: 'Stop this training?', explains: 'It ends at the end of its step, and nothing here starts it again.' },
  { path: 'save', opens: 'Save now …', button: 'Save', title: 'Save the training now?', explains: 'It writes a checkpoint and what its black box holds, if it can, and goes on.' },
];

/** Two buttons with a dialog each; `said` gets the result. */
export function actionButtons(source: Source, run: string, said: (text: string) => void): HTMLElement {
  const answer = h('span', { role: 'status' });
  const bar = h('span', { class: 'toolbar', 'data-actions': '' });
  const ask = (act: Act) => confirm(bar, act, (reason) => void send(act, reason));
  const send = async (act: Act, reason: string) => {
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
  replace(bar, ...ACTS.map((act) => h('button', { onclick: () => ask(act) }, act.opens)), answer);
  return bar;
}
