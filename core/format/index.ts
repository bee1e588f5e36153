export { displayJson, displayLine, displayName, displayText, stripUnseen } from './display-name.ts';
export { formatDuration, msUntilDurationChanges } from './duration.ts';
