export {
  type LoggedMail,
  type MailHit,
  type MailPage,
  type MailSearch,
  openMailSearch,
  SEARCHED_CHARS,
  type SearchLog,
} from './mail-search.ts';
export type { Mark } from './words.ts';
