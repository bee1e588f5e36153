export { type Acted, actOn } from './act-on.ts';
export { type Errand, errandFor, LONGEST_TEXT, type Wish } from './aim.ts';
export { type Call, callText } from './call.ts';
export { type ActionClient, type ActionClientOptions, actionClient } from './client.ts';
export { DEED_NAMES, DEEDS, type Deed, type DeedName, isDeed } from './deeds.ts';
export { readSeed } from './read-seed.ts';
export { type Answer, CLIENT_NAME } from './session.ts';
export { shellLine } from './shell-line.ts';
