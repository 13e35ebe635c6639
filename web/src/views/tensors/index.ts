// The tensors of a run, for the page.
import type { MountView } from '../view';

import { TensorsView } from './tensors_view';
import './tensors.css';

export const mount: MountView = (element, context, state) => new TensorsView(element, context, state);
