// Home: a run on a page.
import './home.css';

import type { MountView } from '../view';
import { HomeView } from './home_view';

export const mount: MountView = (element, context, state) => new HomeView(element, context, state);
