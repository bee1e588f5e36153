/** What a person may have AMQ do. */
export const AMQ_ACTION = {
  type: 'object',
  additionalProperties: false,
  properties: {
    /** The mailbox: your own to read and reply, that of an agent to send. */
    persona: { type: 'string', minLength: 1 },
    do: { enum: ['read', 'reply', 'send'] },
    /** The key `message` of its events. */
    message: { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$' },
    text: { type: 'string', maxLength: 100_000 },
    urgent: { type: 'boolean' },
  },
  required: ['persona', 'do'],
} as const;
