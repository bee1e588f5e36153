import type { AgentState, Extra, Instant, MailName } from '../../model/index.ts';
import type { StoreDefect } from '../source-tools.ts';

/** How one kind of mail store lies on the disk: its folders, the names of its files, and what is in them. All of it is pure. */
export interface MailLayout {
  readonly name: string;
  /** The folder, below the root, that holds one folder per mailbox; empty when the root itself does. */
  readonly mailboxes: string;
  /** Mailboxes that count as there even without a folder. */
  readonly always: readonly string[];
  /** Whether a folder with this name can be a mailbox. */
  isMailbox(name: string): boolean;
  /** The name that a person reads. */
  formatLabel(address: string): string;
  /** The folder, below a mailbox, in which mail arrives; empty when the mailbox itself is that folder. */
  readonly arriving: string;
  /** The folder, below a mailbox, into which a reader moves mail; null for none. */
  readonly claimed: string | null;
  /** Whether a folder is a mailbox only when mail can arrive in it. Else any folder is. */
  readonly needsArriving: boolean;
  /** Returns what a file name says; null for a file that is no message. */
  parseName(name: string, isClaimed: boolean): MessageName | null;
  /**
   * Whether a message that was first seen after it was read is delivered too, when it came while the mailbox was watched: first as
   * new, then as read.
   */
  readonly deliversPassing: boolean;
  /** Whether a file is complete as soon as it has its name, because writers rename it into place. */
  readonly isWhole: boolean;
  /** A larger file is not opened, in bytes. */
  readonly mostBytes: number;
  /**
   * Parses the beginning of a message. Text need not be cleaned or cut.
   * @returns null when it is no message of this layout
   */
  parse(head: MessageHead): ParsedMessage | null | Promise<ParsedMessage | null>;
  /** Whether an unread message is urgent, by the extra keys that `parse` gave it. */
  isUrgent(extra: Extra, address: string): boolean;
  /** Whether a root that was made anew is another set of messages. Else it is the same one. */
  readonly isReplaced: boolean;
  /** A file of a mailbox that says what its agent does. */
  readonly agent?: AgentFile;
  /** Explains, for the log and the doctor, messages that its own programs gave up. */
  readonly dead?: DeadMessages;
}

export interface MessageName {
  /** Identifies the message, whatever happens to its file. */
  readonly key: string;
  readonly isRead: boolean;
}

/** The beginning of a file. */
export interface MessageHead {
  readonly bytes: Uint8Array;
  /** The file is longer. */
  readonly isCut: boolean;
  readonly name: string;
  /** The mailbox. */
  readonly address: string;
}

export interface ParsedMessage {
  readonly appeared: MailName;
  readonly from: string | null;
  /** UTC. */
  readonly created: string | null;
  /** Orders messages: seconds since 1970, then nanoseconds. */
  readonly order: readonly [number, number];
  readonly content: string;
  readonly extra: Extra;
}

/** A file in which an agent, or a program beside it, says what the agent does. */
export interface AgentFile {
  readonly name: string;
  /** Null text: there is no such file, or it cannot be read. */
  parse(text: string | null, now: Instant): AgentReading;
}

export interface AgentReading {
  readonly state: AgentState;
  /** Without another change of the file the state is another one from then on; null: it stays. */
  readonly until: Instant | null;
}

/** Folders of a mailbox that hold messages which its own programs could not handle. */
export interface DeadMessages {
  readonly folders: readonly string[];
  /** The file name of the message that a file is about, and why; null for any other file. */
  parse(name: string, text: string): StoreDefect | null;
}

/** The extra key that says what is wrong with a message which is counted, and delivered without content. */
export type MessageDefect = 'unparsable' | 'too-large' | 'symlink' | 'not-a-file' | 'unreadable';
