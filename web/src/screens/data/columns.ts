// What our columns are called for people, and what stands in them.
export const columnWords: Record<string, { name: string; says: string }> = {
  text: { name: "Text", says: "The post" },
  accounts: { name: "Accounts", says: "Handles, parted by ;" },
  when: { name: "When", says: "draft, queue, or 2026-05-04 09:00" },
  date: { name: "Date", says: "With a column for the time" },
  time: { name: "Time", says: "With a column for the date" },
  zone: { name: "Time zone", says: "Such as Europe/Berlin" },
  title: { name: "Title", says: "To find it here" },
  link: { name: "Link", says: "https://…" },
  hashtags: { name: "Hashtags", says: "Parted by spaces or ;" },
  first_comment: { name: "First comment", says: "Under the post" },
  labels: { name: "Labels", says: "Parted by ;" },
  media: { name: "Pictures and videos", says: "Names of files in the library" },
  key: { name: "Key", says: "A row's own name: it makes one post, however often it is imported" },
};

export const columnName = (column: string): string => columnWords[column]?.name ?? column;
