"""Microsoft 365 and Outlook.com mailboxes, by Microsoft's sign-in page. Start with ../mail_oauth.py; facts: README.md."""

from cadenza.providers.mail_oauth import MailIssuer, MailSignIn, OAuthMail

MICROSOFT = MailIssuer(
    name="microsoft_mail",
    title="Microsoft",
    sign_in_url="https://login.microsoftonline.com",
    sign_in_path="/{tenant}/oauth2/v2.0/authorize",
    exchange_url="https://login.microsoftonline.com",
    exchange_path="/{tenant}/oauth2/v2.0/token",
    scopes=(
        "openid email offline_access https://outlook.office.com/IMAP.AccessAsUser.All"
        " https://outlook.office.com/SMTP.Send"
    ),
    query={"prompt": "select_account"},
    smtp_host="smtp.office365.com",
    smtp_port=587,
    smtp_security="starttls",
    imap_host="outlook.office365.com",
)
PROVIDER = OAuthMail(MICROSOFT)
CONNECTOR = MailSignIn(MICROSOFT)
