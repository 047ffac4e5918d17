// The people one writes to: one by one, in audiences, as channels of others; and whom not to write to.
import { useParams } from "react-router";

import { Page } from "../../ui/Page";
import { PathTabs } from "../../ui/PathTabs";
import { Audiences } from "./Audiences";
import { ContactList } from "./ContactList";
import { ContactPage } from "./ContactPage";
import { Imports } from "./Imports";
import { RecipientChannels } from "./RecipientChannels";
import { Suppression } from "./Suppression";
import { t } from "../../messages/contacts";

const parts = [
  { path: "list", name: t("contacts"), Shown: ContactList },
  { path: "audiences", name: t("audiences"), Shown: Audiences },
  { path: "channels", name: t("channels"), Shown: RecipientChannels },
  { path: "suppression", name: t("doNotContact"), Shown: Suppression },
  { path: "import", name: t("importAndExport"), Shown: Imports },
];

export default function Contacts() {
  const { "*": path = "" } = useParams();
  const [first, id] = path.split("/");
  if (first === "person" && id !== undefined && id !== "") return <ContactPage key={id} id={id} />;
  return (
    <Page title={t("contacts")} message={t("thePeopleYouWriteTo")}>
      <PathTabs screen="contacts" parts={parts} />
    </Page>
  );
}
