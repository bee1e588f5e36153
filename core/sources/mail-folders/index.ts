export { type InternetMessage, parseMessageHead } from './internet-message.ts';
export type { AgentReading, MailLayout, MessageHead, MessageName, ParsedMessage } from './layout.ts';
export { createFlatLayout, type JsonMessageParser, maildirLayout } from './layouts.ts';
export { createMailFolderSource, type MailFolderOptions, type MailFolderSource } from './source.ts';
