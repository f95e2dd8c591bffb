//! PostgreSQL's own text of what it resolves a statement to.

use std::future::poll_fn;
use std::sync::{Arc, Mutex};

use tokio_postgres::{AsyncMessage, Client, NoTls};

/// A superuser's connection on which trees are printed.
pub(crate) struct Printer {
    pub(crate) client: Client,
    printed: Arc<Mutex<Vec<String>>>,
}

impl Printer {
    pub(crate) async fn start(url: &str) -> Self {
        let (client, mut connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
        let printed = Arc::new(Mutex::new(Vec::new()));
        let caught = Arc::clone(&printed);
        tokio::spawn(async move {
            while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
                if let AsyncMessage::Notice(notice) = message
                    && notice.message() == "parse tree:"
                {
                    caught.lock().unwrap().push(notice.detail().unwrap().to_owned());
                }
            }
        });
        Self { client, printed }
    }

    /// The tree of a statement. What the client asks besides to learn of its types is printed after it.
    pub(crate) async fn print(&mut self, sql: &str) -> String {
        let loud = "SET debug_pretty_print = off; SET log_min_messages = fatal; SET client_min_messages = log; SET debug_print_parse = on";
        self.client.batch_execute(loud).await.unwrap();
        self.printed.lock().unwrap().clear();
        self.client.prepare(sql).await.unwrap();
        self.client.batch_execute("RESET ALL").await.unwrap();
        self.printed.lock().unwrap().remove(0)
    }
}
