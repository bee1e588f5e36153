export { EMPTY_TAIL, type Sink, type Tail, type Taken } from './sink.ts';
