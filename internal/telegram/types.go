package telegram

import (
	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
)

// The library's types under our roof, so that a feature which sends needs no
// import of the library.
type (
	// Update is a decoded update.
	Update = models.Update
	// Message is a message as Telegram shows it.
	Message = models.Message
	// MessageEntity is a formatted range of a text.
	MessageEntity = models.MessageEntity
	// User is a person or a bot.
	User = models.User
	// Chat is a chat as it stands in messages.
	Chat = models.Chat
	// ChatFullInfo is what GetChat tells.
	ChatFullInfo = models.ChatFullInfo
	// ChatMember is somebody's standing and rights in a chat.
	ChatMember = models.ChatMember
	// ChatAdministratorRights is what an administrator may do.
	ChatAdministratorRights = models.ChatAdministratorRights
	// InlineKeyboardMarkup are the buttons under a message.
	InlineKeyboardMarkup = models.InlineKeyboardMarkup
	// InlineKeyboardButton is one of them.
	InlineKeyboardButton = models.InlineKeyboardButton
	// LinkPreviewOptions says how the link in a text is shown.
	LinkPreviewOptions = models.LinkPreviewOptions
	// InputMedia is a part of an album.
	InputMedia = models.InputMedia
	// InputMediaPhoto is a picture in an album.
	InputMediaPhoto = models.InputMediaPhoto
	// InputFileString is a file by id or address.
	InputFileString = models.InputFileString
	// InputFileUpload is a file from here.
	InputFileUpload = models.InputFileUpload
	// LabeledPrice is the price of an invoice.
	LabeledPrice = models.LabeledPrice
	// SuccessfulPayment is the service message of a payment that went through.
	SuccessfulPayment = models.SuccessfulPayment
	// StarTransactions is a page of Star movements.
	StarTransactions = models.StarTransactions

	// SendMessageParams are the parameters of SendMessage.
	SendMessageParams = bot.SendMessageParams
	// SendPhotoParams are the parameters of SendPhoto.
	SendPhotoParams = bot.SendPhotoParams
	// SendDocumentParams are the parameters of SendDocument.
	SendDocumentParams = bot.SendDocumentParams
	// SendMediaGroupParams are the parameters of SendMediaGroup.
	SendMediaGroupParams = bot.SendMediaGroupParams
	// EditMessageTextParams are the parameters of EditMessageText.
	EditMessageTextParams = bot.EditMessageTextParams
	// EditMessageCaptionParams are the parameters of EditMessageCaption.
	EditMessageCaptionParams = bot.EditMessageCaptionParams
	// DeleteMessageParams are the parameters of DeleteMessage.
	DeleteMessageParams = bot.DeleteMessageParams
	// ForwardMessageParams are the parameters of ForwardMessage.
	ForwardMessageParams = bot.ForwardMessageParams
	// GetChatParams are the parameters of GetChat.
	GetChatParams = bot.GetChatParams
	// GetChatMemberParams are the parameters of GetChatMember.
	GetChatMemberParams = bot.GetChatMemberParams
	// AnswerCallbackQueryParams are the parameters of AnswerCallbackQuery.
	AnswerCallbackQueryParams = bot.AnswerCallbackQueryParams
	// AnswerPreCheckoutQueryParams are the parameters of AnswerPreCheckoutQuery.
	AnswerPreCheckoutQueryParams = bot.AnswerPreCheckoutQueryParams
	// CreateInvoiceLinkParams are the parameters of CreateInvoiceLink.
	CreateInvoiceLinkParams = bot.CreateInvoiceLinkParams
	// RefundStarPaymentParams are the parameters of RefundStarPayment.
	RefundStarPaymentParams = bot.RefundStarPaymentParams
	// GetStarTransactionsParams are the parameters of GetStarTransactions.
	GetStarTransactionsParams = bot.GetStarTransactionsParams
	// EditUserStarSubscriptionParams are the parameters of EditUserStarSubscription.
	EditUserStarSubscriptionParams = bot.EditUserStarSubscriptionParams
)

// ParseModeHTML is the only markup that postonce sends.
const ParseModeHTML = models.ParseModeHTML

// MaxText and MaxCaption are Telegram's limits in UTF-16 units after parsing
// and trimming (html.Length counts them); MaxCallbackData is in bytes.
const (
	MaxText         = 4096
	MaxCaption      = 1024
	MaxCallbackData = 64
)
