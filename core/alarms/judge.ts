import { foldName } from '../model/index.ts';
import type { PersonaDirectory } from '../sources/index.ts';
import { classifyReader } from './address-activity.ts';
import { type AlarmRules, type AlarmState, getActivity, STRANDED_POLLS, URGENT_POLLS } from './alarm-state.ts';

/** What is true right now, whether or not it was delivered. Lists are sorted. */
export interface Judgement {
  readonly stranded: readonly string[];
  readonly dormant: readonly string[];
  readonly urgent: readonly string[];
  readonly urgentWriteOnly: readonly string[];
  /** Inboxes with urgent mail whose silence is not observed, because some inbox was not polled since. */
  readonly unobserved: readonly string[];
  /** Some inbox can only be judged by a directory that is newer than its mail. */
  readonly wantsDirectory: boolean;
}

const NOTHING: Judgement = {
  stranded: [],
  dormant: [],
  urgent: [],
  urgentWriteOnly: [],
  unobserved: [],
  wantsDirectory: false,
};

/**
 * Judges the inboxes of a hive.
 *
 * @param directory null: the members are unknown, so nothing is claimed
 * @param covered since when every watched inbox was polled and delivered, monotonic; null: some were not, so that mail
 * which a persona sent may be unseen, and its silence is not observable (Kijito contract, trap 50)
 */
export function judge(
  state: AlarmState,
  directory: PersonaDirectory | null,
  covered: number | null,
  rules: AlarmRules,
): Judgement {
  if (directory === null) return NOTHING;
  const stranded: string[] = [];
  const dormant: string[] = [];
  const urgent: string[] = [];
  const urgentWriteOnly: string[] = [];
  const unobserved: string[] = [];
  let wantsDirectory = false;
  for (const [address, held] of state.held) {
    const reader = classifyReader(address, directory, getActivity(state, address));
    if (reader === 'dormant' && rules.stranded) dormant.push(address);
    if ((reader === 'none' || reader === 'unlisted') && rules.stranded && held.polls >= STRANDED_POLLS) {
      if (directory.requestedAt > held.since) stranded.push(address);
      else wantsDirectory = true;
    }
    const member = directory.byAddress.get(address);
    if (!rules.urgent || member === undefined || member.retired || held.silence === null) continue;
    if (reader === 'none' || rules.suppressed.has(foldName(address))) continue;
    if (held.silence.polls < URGENT_POLLS) continue;
    const isObserved = covered !== null && covered >= held.silence.since;
    if (isObserved) (member.writeOnly ? urgentWriteOnly : urgent).push(address);
    else if (!member.writeOnly) unobserved.push(address);
  }
  for (const names of [stranded, dormant, urgent, urgentWriteOnly, unobserved]) names.sort();
  return { stranded, dormant, urgent, urgentWriteOnly, unobserved, wantsDirectory };
}
