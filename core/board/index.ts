export type { Board } from './board.ts';
export type { Fact, Until } from './fact.ts';
export type { CauseView, HiveView, PersonaView, Seen, Snapshot } from './snapshot.ts';
